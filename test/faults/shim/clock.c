/*
 * A wall clock that a test sets, and a boot of the machine that it names; loaded by LD_PRELOAD.
 *
 *   SHIM_WALL  path of a file of 8 bytes: seconds that the wall clock is off, a little-endian integer, mapped and read at each call
 *   SHIM_BOOT  path of a file that is read instead of /proc/sys/kernel/random/boot_id
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *wall;
static const char *boot;

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("SHIM_WALL");
  boot = getenv("SHIM_BOOT");
  int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  void *map = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
  if (map != MAP_FAILED) wall = map;
  close(fd);
}

static int64_t offset(void) {
  return wall == NULL ? 0 : *wall;
}

int clock_gettime(clockid_t id, struct timespec *at) {
  static int (*real)(clockid_t, struct timespec *);
  if (real == NULL) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(id, at);
  if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) at->tv_sec += offset();
  return result;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  static int (*real)(struct timeval *restrict, void *restrict);
  if (real == NULL) real = (int (*)(struct timeval *restrict, void *restrict))dlsym(RTLD_NEXT, "gettimeofday");
  int result = real(at, zone);
  if (result == 0) at->tv_sec += offset();
  return result;
}

time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at != NULL) *at = now.tv_sec;
  return now.tv_sec;
}

static const char *path_of(const char *path) {
  return boot != NULL && path != NULL && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0 ? boot : path;
}

#define OPEN(name)                                                                  \
  int name(const char *path, int flags, ...) {                                      \
    static int (*real)(const char *, int, ...);                                     \
    if (real == NULL) real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name); \
    va_list rest;                                                                   \
    va_start(rest, flags);                                                          \
    mode_t mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                                   \
    return real(path_of(path), flags, mode);                                        \
  }

OPEN(open)
OPEN(open64)
