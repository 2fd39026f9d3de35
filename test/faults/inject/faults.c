/*
 * Makes calls on one file fail, for tests: loaded with LD_PRELOAD into the daemon. The control file named by FAULTS_CONTROL is mapped.
 * Its first half says what fails, as text: "<errno> <operations> <path>", e.g. "5 data,flush /tmp/x/tokens.mdb"; empty for nothing.
 * Its second half counts the calls that failed, one 64-bit number for each operation in the order of `names`.
 *
 *   data      a write through a descriptor without O_DSYNC
 *   dsync     a write through a descriptor with O_DSYNC, which is its own flush; nothing is written
 *   dsynclate the same, but the bytes are written before the call fails, as when only the flush does
 *   flush     fsync, fdatasync, msync, sync_file_range
 *   size      ftruncate, fallocate
 *   open      opening for writing
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { HALF = 2048, PATH = 1024 };
enum operation { DATA, DSYNC, DSYNC_LATE, FLUSH, SIZE, OPEN, OPERATIONS };
static const char *const names[OPERATIONS] = { "data", "dsync", "dsynclate", "flush", "size", "open" };
static char *control;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) {
	return dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void map_control(void) {
	const char *path = getenv("FAULTS_CONTROL");
	int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) return;
	void *at = mmap(NULL, 2 * HALF, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (at != MAP_FAILED) control = at;
}

/* The error with which this operation on this path fails now; 0 for none. Counts it. */
static int fault(enum operation operation, const char *path) {
	int error = 0;
	char operations[128], target[PATH];
	if (sscanf(control, "%d %127s %1023s", &error, operations, target) != 3 || strcmp(path, target) != 0) return 0;
	const size_t length = strlen(names[operation]);
	for (const char *at = operations; at != NULL; at = strchr(at, ',')) {
		if (*at == ',') at++;
		if (strncmp(at, names[operation], length) != 0 || (at[length] != ',' && at[length] != '\0')) continue;
		atomic_fetch_add((_Atomic unsigned long long *)(control + HALF) + operation, 1);
		return error;
	}
	return 0;
}

static int fault_of(enum operation operation, int fd) {
	char link[64], path[PATH];
	if (control == NULL || control[0] == '\0') return 0;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	const ssize_t length = readlink(link, path, sizeof path - 1);
	if (length <= 0) return 0;
	path[length] = '\0';
	return fault(operation, path);
}

static int is_dsync(int fd) {
	return control != NULL && control[0] != '\0' && (fcntl(fd, F_GETFL) & O_DSYNC) != 0;
}

#define WRITES(type, name, parameters, ...) \
	type name parameters { \
		if (!is_dsync(fd)) { \
			const int error = fault_of(DATA, fd); \
			if (error != 0) return errno = error, -1; \
			return REAL(name)(__VA_ARGS__); \
		} \
		const int error = fault_of(DSYNC, fd); \
		if (error != 0) return errno = error, -1; \
		const type result = REAL(name)(__VA_ARGS__); \
		const int late = fault_of(DSYNC_LATE, fd); \
		if (late != 0) return errno = late, -1; \
		return result; \
	}

WRITES(ssize_t, write, (int fd, const void *bytes, size_t count), fd, bytes, count)
WRITES(ssize_t, pwrite, (int fd, const void *bytes, size_t count, off_t at), fd, bytes, count, at)
WRITES(ssize_t, pwrite64, (int fd, const void *bytes, size_t count, off64_t at), fd, bytes, count, at)
WRITES(ssize_t, writev, (int fd, const struct iovec *parts, int count), fd, parts, count)
WRITES(ssize_t, pwritev, (int fd, const struct iovec *parts, int count, off_t at), fd, parts, count, at)
WRITES(ssize_t, pwritev64, (int fd, const struct iovec *parts, int count, off64_t at), fd, parts, count, at)

#define FAILS(operation, name, parameters, ...) \
	int name parameters { \
		const int error = fault_of(operation, fd); \
		if (error != 0) return errno = error, -1; \
		return REAL(name)(__VA_ARGS__); \
	}

FAILS(FLUSH, fsync, (int fd), fd)
FAILS(FLUSH, fdatasync, (int fd), fd)
FAILS(FLUSH, sync_file_range, (int fd, off64_t at, off64_t count, unsigned int flags), fd, at, count, flags)
FAILS(SIZE, ftruncate, (int fd, off_t size), fd, size)
FAILS(SIZE, ftruncate64, (int fd, off64_t size), fd, size)
FAILS(SIZE, fallocate, (int fd, int mode, off_t at, off_t count), fd, mode, at, count)
FAILS(SIZE, fallocate64, (int fd, int mode, off64_t at, off64_t count), fd, mode, at, count)

static int fault_of_open(const char *path, int flags) {
	if (control == NULL || control[0] == '\0' || (flags & O_ACCMODE) == O_RDONLY) return 0;
	return fault(OPEN, path);
}

#define OPENS(name) \
	int name(const char *path, int flags, ...) { \
		va_list rest; \
		va_start(rest, flags); \
		const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0; \
		va_end(rest); \
		const int error = fault_of_open(path, flags); \
		if (error != 0) return errno = error, -1; \
		return REAL(name)(path, flags, mode); \
	}

OPENS(open)
OPENS(open64)
