#ifndef STALLS_H
#define STALLS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * When the machine left even real-time processes waiting: the kernel did not switch, or the hypervisor had given the processor to
 * somebody else. On every processor a thread of higher priority than all others wakes every 250 us, and notes when it is late.
 */
void stalls_watch(void);
/* What was noted can be asked for after the end. */
void stalls_end(void);
/* A stall overlaps that time, by CLOCK_REALTIME. */
bool stalls_overlap(int64_t from_ns, int64_t to_ns);
/* By how much the watchers were late, of all times they woke: the quantile, in nanoseconds. */
int64_t stalls_lateness_ns(double part);

#endif
