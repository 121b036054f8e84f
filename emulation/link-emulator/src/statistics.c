#include "statistics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The last bucket has all that is later. */
enum { bucket_us = 5, buckets = 20000 };

struct statistics statistics;
bool is_real_time;

static uint64_t histogram[buckets];
static int64_t sum_ns;
static int64_t max_ns;

void statistics_lateness(int64_t lateness_ns) {
  int64_t bucket = lateness_ns / (bucket_us * 1000);
  histogram[bucket < buckets ? bucket : buckets - 1]++;
  sum_ns += lateness_ns;
  if (lateness_ns > max_ns) max_ns = lateness_ns;
}

void statistics_reset(void) {
  statistics = (struct statistics){0};
  memset(histogram, 0, sizeof histogram);
  sum_ns = max_ns = 0;
}

/* The upper bound of the bucket that the quantile falls into. */
static int64_t quantile_us(double part, uint64_t count) {
  uint64_t below = 0;
  for (int bucket = 0; bucket < buckets - 1; bucket++) {
    below += histogram[bucket];
    if ((double)below >= part * (double)count) return (int64_t)(bucket + 1) * bucket_us;
  }
  return max_ns / 1000;
}

void statistics_print(unsigned in_flight) {
  struct statistics s = statistics;
  printf("{\"packets\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"delivered\":%" PRIu64 ",\"lost\":%" PRIu64
         ",\"queueFull\":%" PRIu64 ",\"poolFull\":%" PRIu64 ",\"unroutable\":%" PRIu64 ",\"refused\":%" PRIu64,
         s.packets, s.bytes, s.delivered, s.lost, s.queue_full, s.pool_full, s.unroutable, s.refused);
  printf(",\"inFlight\":%u,\"realTime\":%s", in_flight, is_real_time ? "true" : "false");
  if (s.delivered == 0) {
    printf(",\"lateness\":null}\n");
    return;
  }
  printf(",\"lateness\":{\"meanUs\":%.1f,\"p99Us\":%" PRId64 ",\"maxUs\":%" PRId64 "}}\n",
         (double)sum_ns / (double)s.delivered / 1e3, quantile_us(0.99, s.delivered), max_ns / 1000);
}
