/* System calls with rare but allowed results. disk_faults.py compiles this file and loads it before
 * the C library. URLSPOOL_PRELOAD chooses the fault: "short" (read and write transfer half),
 * "interrupted" (every other call fails with EINTR first, except syncs, which Linux does not
 * interrupt on local disks; and a timer interrupts a thousand times a second), "syncs" (one sync in
 * 31 fails with EINTR), "clock" (the time of day jumps by a year). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int is_short, is_interrupted, is_syncs, is_clock;
static __thread unsigned calls;
static unsigned syncs;

static void on_alarm(int number) { (void)number; }

__attribute__((constructor)) static void read_mode(void) {
  const char *mode = getenv("URLSPOOL_PRELOAD");
  if (!mode) return;
  is_short = !strcmp(mode, "short");
  is_interrupted = !strcmp(mode, "interrupted");
  is_syncs = !strcmp(mode, "syncs");
  syncs = (unsigned)getpid(); /* so that another sync fails in each run */
  is_clock = !strcmp(mode, "clock");
  if (is_interrupted) {
    struct sigaction act = {.sa_handler = on_alarm}; /* without SA_RESTART */
    struct itimerval every = {{0, 1000}, {0, 1000}};
    sigaction(SIGALRM, &act, 0);
    setitimer(ITIMER_REAL, &every, 0);
  }
}

/* Only regular files: messages of queues are never transferred in part, and calls that do not wait
 * are not interrupted. */
static int is_file(int fd) {
  struct stat metadata;
  return !fstat(fd, &metadata) && S_ISREG(metadata.st_mode);
}
static size_t part(int fd, size_t n) { return is_short && n > 1 && is_file(fd) ? n / 2 : n; }
static int is_interrupted_now(int fd) {
  if (!is_interrupted || (fd != -1 && !is_file(fd)) || calls++ % 2) return 0;
  errno = EINTR;
  return 1;
}

#define NEXT(type, name) ((type)dlsym(RTLD_NEXT, name))
#define TRANSFER(name, pointer)                                                                   \
  ssize_t name(int fd, pointer buffer, size_t n, off_t offset) {                                  \
    if (is_interrupted_now(fd)) return -1;                                                        \
    return NEXT(ssize_t(*)(int, pointer, size_t, off_t), #name)(fd, buffer, part(fd, n), offset); \
  }
TRANSFER(pread, void *)
TRANSFER(pread64, void *)
TRANSFER(pwrite, const void *)
TRANSFER(pwrite64, const void *)
ssize_t read(int fd, void *buffer, size_t n) {
  if (is_interrupted_now(fd)) return -1;
  return NEXT(ssize_t(*)(int, void *, size_t), "read")(fd, buffer, part(fd, n));
}
ssize_t write(int fd, const void *buffer, size_t n) {
  if (is_interrupted_now(fd)) return -1;
  return NEXT(ssize_t(*)(int, const void *, size_t), "write")(fd, buffer, part(fd, n));
}
int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  if (is_interrupted_now(-1)) return -1;
  return NEXT(int (*)(const char *, int, ...), "open64")(path, flags, mode);
}
int ftruncate64(int fd, off_t len) {
  return is_interrupted_now(fd) ? -1 : NEXT(int (*)(int, off_t), "ftruncate64")(fd, len);
}

#define SYNC(name)                                                                               \
  int name(int fd) {                                                                             \
    if (is_syncs && __atomic_fetch_add(&syncs, 1, __ATOMIC_RELAXED) % 31 == 0) {                 \
      errno = EINTR;                                                                             \
      return -1;                                                                                 \
    }                                                                                            \
    return NEXT(int (*)(int), #name)(fd);                                                        \
  }
SYNC(fsync)
SYNC(fdatasync)

int clock_gettime(clockid_t clock, struct timespec *at) {
  int done = NEXT(int (*)(clockid_t, struct timespec *), "clock_gettime")(clock, at);
  /* The present, a year ago, and in a year, in turn. */
  if (is_clock && clock == CLOCK_REALTIME) at->tv_sec += ((long)(calls++ % 3) - 1) * 31536000;
  return done;
}
