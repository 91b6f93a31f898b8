// Moves the calendar of a process that preloads this library: times of day are as many seconds
// ahead as the file in the variable SHIFTED_CLOCK says, which may change while the process runs.
// Other clocks stay as they are. No locks: a browser reads the time very often in many threads.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

typedef int clock_function(clockid_t, struct timespec *);

static clock_function *original;
static const volatile int64_t *offset_s;

__attribute__((constructor)) static void open_offset(void) {
  const char *path = getenv("SHIFTED_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *shared = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  if (shared != MAP_FAILED) offset_s = shared;
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  if (!original) original = (clock_function *)dlsym(RTLD_NEXT, "clock_gettime");
  int result = original(clock, time);
  int is_calendar = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (result == 0 && is_calendar && offset_s) time->tv_sec += *offset_s;
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t *out) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return (time_t)-1;
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}
