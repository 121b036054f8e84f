#define _GNU_SOURCE
#include "stalls.h"

#include "../src/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { max_processors = 64, max_stalls = 100000, max_wakes = 400000, priority = 90 };
static const int64_t period_ns = 250000;
static const int64_t stall_ns = 150000;

struct stall {
  int64_t from_ns;
  int64_t to_ns;
};

/* Each thread writes its own; they are read when it has ended. */
struct watcher {
  pthread_t thread;
  int processor;
  long stall_count;
  long wake_count;
  struct stall stalls[max_stalls];
  int64_t lateness_ns[max_wakes];
};

static struct watcher *watchers[max_processors];
static long watcher_count;
static atomic_bool is_over;

static void note(struct watcher *watcher, int64_t due_ns, int64_t woken_ns) {
  watcher->lateness_ns[watcher->wake_count++] = woken_ns - due_ns;
  if (woken_ns - due_ns < stall_ns) return;
  struct stall *last = &watcher->stalls[watcher->stall_count - 1];
  if (watcher->stall_count > 0 && due_ns <= last->to_ns) last->to_ns = woken_ns;
  else watcher->stalls[watcher->stall_count++] = (struct stall){due_ns, woken_ns};
}

static void *watch(void *argument) {
  struct watcher *watcher = argument;
  cpu_set_t processors;
  CPU_ZERO(&processors);
  CPU_SET(watcher->processor, &processors);
  sched_setaffinity(0, sizeof processors, &processors);
  struct sched_param real_time = {.sched_priority = priority};
  sched_setscheduler(0, SCHED_FIFO, &real_time);
  int64_t due_ns = now_ns(CLOCK_REALTIME);
  while (!is_over && watcher->wake_count < max_wakes && watcher->stall_count < max_stalls) {
    due_ns += period_ns;
    struct timespec time = {due_ns / 1000000000, due_ns % 1000000000};
    clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, NULL);
    note(watcher, due_ns, now_ns(CLOCK_REALTIME));
  }
  return NULL;
}

void stalls_watch(void) {
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  for (watcher_count = 0; watcher_count < processors && watcher_count < max_processors; watcher_count++) {
    struct watcher *watcher = calloc(1, sizeof *watcher);
    if (watcher == NULL) abort();
    watcher->processor = (int)watcher_count;
    watchers[watcher_count] = watcher;
    if (pthread_create(&watcher->thread, NULL, watch, watcher) != 0) abort();
  }
}

void stalls_end(void) {
  is_over = true;
  for (long at = 0; at < watcher_count; at++) pthread_join(watchers[at]->thread, NULL);
}

bool stalls_overlap(int64_t from_ns, int64_t to_ns) {
  for (long at = 0; at < watcher_count; at++)
    for (long stall = 0; stall < watchers[at]->stall_count; stall++)
      if (watchers[at]->stalls[stall].from_ns < to_ns && watchers[at]->stalls[stall].to_ns > from_ns) return true;
  return false;
}

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

int64_t stalls_lateness_ns(double part) {
  long count = 0;
  for (long at = 0; at < watcher_count; at++) count += watchers[at]->wake_count;
  int64_t *all = calloc((size_t)count + 1, sizeof *all);
  if (all == NULL) abort();
  count = 0;
  for (long at = 0; at < watcher_count; at++)
    for (long wake = 0; wake < watchers[at]->wake_count; wake++) all[count++] = watchers[at]->lateness_ns[wake];
  qsort(all, (size_t)count, sizeof *all, ascending);
  int64_t quantile = count == 0 ? 0 : all[(long)(part * (double)(count - 1))];
  free(all);
  return quantile;
}
