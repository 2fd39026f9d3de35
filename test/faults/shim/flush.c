/*
 * Logs what a process writes to files and sockets in the order in which it happens; loaded by LD_PRELOAD.
 *
 *   SHIM_LOG    path of the log, appended to
 *   SHIM_UNDER  only regular files whose path begins with this
 *   SHIM_DELAY  path of a file of 8 bytes: milliseconds before each synchronous write, and three times that before each flush; a
 *               little-endian integer, mapped and read each time. So a commit takes four times as long as a line of the audit.
 *
 * A line is one of
 *   write PATH    bytes were handed to the kernel and may be lost
 *   dsync PATH    bytes were written through a synchronous descriptor: they are on the disk
 *   flush PATH    everything written before is on the disk
 *   socket HERE THERE   bytes are about to leave through a TCP socket with these ports
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int log_fd = -1;
static const char *under = "";
static const volatile int64_t *delay_ms;

#define REAL(result, name, ...) \
  static result (*real)(__VA_ARGS__); \
  if (real == NULL) real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static ssize_t plain_write(int fd, const void *bytes, size_t count) {
  REAL(ssize_t, "write", int, const void *, size_t);
  return real(fd, bytes, count);
}

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("SHIM_LOG");
  if (path == NULL) return;
  if (getenv("SHIM_UNDER") != NULL) under = getenv("SHIM_UNDER");
  const char *control = getenv("SHIM_DELAY");
  int fd = control == NULL ? -1 : open(control, O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    void *map = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED) delay_ms = map;
    close(fd);
  }
  log_fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

static void say(const char *kind, const char *what) {
  char line[PATH_MAX + 32];
  int length = snprintf(line, sizeof line, "%s %s\n", kind, what);
  if (log_fd >= 0 && length > 0 && (size_t)length < sizeof line) (void)!plain_write(log_fd, line, (size_t)length);
}

/* The path of a regular file that is looked at; 0 for anything else. */
static int file_of(int fd, char *path) {
  struct stat at;
  if (log_fd < 0 || fd == log_fd || fstat(fd, &at) != 0 || !(S_ISREG(at.st_mode) || S_ISDIR(at.st_mode))) return 0;
  char link[48];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0) return 0;
  path[length] = '\0';
  return strncmp(path, under, strlen(under)) == 0;
}

static int port_of(const struct sockaddr_storage *at) {
  if (at->ss_family == AF_INET) return ntohs(((const struct sockaddr_in *)at)->sin_port);
  if (at->ss_family == AF_INET6) return ntohs(((const struct sockaddr_in6 *)at)->sin6_port);
  return 0;
}

static void say_socket(int fd) {
  struct stat at;
  if (log_fd < 0 || fstat(fd, &at) != 0 || !S_ISSOCK(at.st_mode)) return;
  struct sockaddr_storage here = {0}, there = {0};
  socklen_t here_size = sizeof here, there_size = sizeof there;
  if (getsockname(fd, (struct sockaddr *)&here, &here_size) != 0 || getpeername(fd, (struct sockaddr *)&there, &there_size) != 0) return;
  if (port_of(&here) == 0 || port_of(&there) == 0) return;
  char ports[32];
  snprintf(ports, sizeof ports, "%d %d", port_of(&here), port_of(&there));
  say("socket", ports);
}

static void wait_for_disk(int times) {
  int64_t ms = delay_ms == NULL ? 0 : *delay_ms * times;
  struct timespec time = {ms / 1000, (ms % 1000) * 1000000};
  if (ms > 0) nanosleep(&time, NULL);
}

static int is_synchronous(int fd) {
  int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_DSYNC) != 0; /* O_SYNC has its bit, too */
}

/* Around a call that writes: `call` is it. */
#define WRITING(fd, call)                                     \
  char path[PATH_MAX];                                        \
  int is_file = file_of(fd, path);                            \
  int synchronous = is_file && is_synchronous(fd);            \
  if (synchronous) wait_for_disk(1);                           \
  if (!is_file) say_socket(fd);                               \
  ssize_t written = call;                                     \
  if (is_file && written > 0) say(synchronous ? "dsync" : "write", path); \
  return written

ssize_t write(int fd, const void *bytes, size_t count) {
  WRITING(fd, plain_write(fd, bytes, count));
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(ssize_t, "writev", int, const struct iovec *, int);
  WRITING(fd, real(fd, parts, count));
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
  REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
  WRITING(fd, real(fd, bytes, count, at));
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
  REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
  WRITING(fd, real(fd, bytes, count, at));
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
  REAL(ssize_t, "pwritev", int, const struct iovec *, int, off_t);
  WRITING(fd, real(fd, parts, count, at));
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) {
  REAL(ssize_t, "pwritev64", int, const struct iovec *, int, off64_t);
  WRITING(fd, real(fd, parts, count, at));
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  REAL(ssize_t, "sendmsg", int, const struct msghdr *, int);
  say_socket(fd);
  return real(fd, message, flags);
}

ssize_t send(int fd, const void *bytes, size_t count, int flags) {
  REAL(ssize_t, "send", int, const void *, size_t, int);
  say_socket(fd);
  return real(fd, bytes, count, flags);
}

static int flushed(int fd, int result) {
  char path[PATH_MAX];
  if (result == 0 && file_of(fd, path)) say("flush", path);
  return result;
}

int fsync(int fd) {
  REAL(int, "fsync", int);
  wait_for_disk(3);
  return flushed(fd, real(fd));
}

int fdatasync(int fd) {
  REAL(int, "fdatasync", int);
  wait_for_disk(3);
  return flushed(fd, real(fd));
}
