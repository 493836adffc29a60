/* System calls that do what they may do and seldom do: see disk_faults.py, which compiles this and puts it before the
 * C library. URLSPOOL_PRELOAD says what: "short" (read and write do half), "interrupted" (every other call fails with
 * EINTR first, but for syncs, which Linux interrupts on no local disk; and a timer interrupts a thousand times a second),
 * "syncs" (one sync in 31 fails with EINTR), "clock" (the time of day jumps by a year). */
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

static void alarmed(int number) { (void)number; }

__attribute__((constructor)) static void begin(void) {
  const char *mode = getenv("URLSPOOL_PRELOAD");
  if (!mode) return;
  is_short = !strcmp(mode, "short");
  is_interrupted = !strcmp(mode, "interrupted");
  is_syncs = !strcmp(mode, "syncs");
  syncs = (unsigned)getpid(); /* so that each run meets another one */
  is_clock = !strcmp(mode, "clock");
  if (is_interrupted) {
    struct sigaction act = {.sa_handler = alarmed}; /* without SA_RESTART */
    struct itimerval every = {{0, 1000}, {0, 1000}};
    sigaction(SIGALRM, &act, 0);
    setitimer(ITIMER_REAL, &every, 0);
  }
}

/* Only files: a message of a queue is never halved, and one that does not wait is never interrupted. */
static int is_file(int fd) {
  struct stat of;
  return !fstat(fd, &of) && S_ISREG(of.st_mode);
}
static size_t part(int fd, size_t n) { return is_short && n > 1 && is_file(fd) ? n / 2 : n; }
static int interrupts(int fd) {
  if (!is_interrupted || (fd != -1 && !is_file(fd)) || calls++ % 2) return 0;
  errno = EINTR;
  return 1;
}

#define NEXT(type, name) ((type)dlsym(RTLD_NEXT, name))
#define TRANSFER(name, pointer)                                                                \
  ssize_t name(int fd, pointer at, size_t n, off_t where) {                                    \
    if (interrupts(fd)) return -1;                                                               \
    return NEXT(ssize_t(*)(int, pointer, size_t, off_t), #name)(fd, at, part(fd, n), where);   \
  }
TRANSFER(pread, void *)
TRANSFER(pread64, void *)
TRANSFER(pwrite, const void *)
TRANSFER(pwrite64, const void *)
ssize_t read(int fd, void *at, size_t n) {
  if (interrupts(fd)) return -1;
  return NEXT(ssize_t(*)(int, void *, size_t), "read")(fd, at, part(fd, n));
}
ssize_t write(int fd, const void *at, size_t n) {
  if (interrupts(fd)) return -1;
  return NEXT(ssize_t(*)(int, const void *, size_t), "write")(fd, at, part(fd, n));
}
int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return interrupts(-1) ? -1 : NEXT(int (*)(const char *, int, ...), "open64")(path, flags, mode);
}
int ftruncate64(int fd, off_t len) { return interrupts(fd) ? -1 : NEXT(int (*)(int, off_t), "ftruncate64")(fd, len); }

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
  /* Now, a year ago, in a year. */
  if (is_clock && clock == CLOCK_REALTIME) at->tv_sec += ((long)(calls++ % 3) - 1) * 31536000;
  return done;
}
