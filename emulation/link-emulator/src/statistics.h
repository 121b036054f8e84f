#ifndef STATISTICS_H
#define STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

/* What has become of packets since the start, or since the last reset. */
struct statistics {
  uint64_t packets;
  uint64_t bytes;
  uint64_t delivered;
  /* By chance, as asked. */
  uint64_t lost;
  /* A link with a bandwidth had too much waiting. */
  uint64_t queue_full;
  /* More than max_packets in flight. */
  uint64_t pool_full;
  /* No IPv4, or to nobody that this host has a delay to. */
  uint64_t unroutable;
  /* The device of the receiver did not take it. */
  uint64_t refused;
};

extern struct statistics statistics;
/* This process goes before all ordinary ones. */
extern bool is_real_time;

/* How long after its time a packet was handed to its receiver. */
void statistics_lateness(int64_t lateness_ns);
void statistics_reset(void);
/* One line of JSON. */
void statistics_print(unsigned in_flight);

#endif
