#ifndef LINKS_H
#define LINKS_H

#include "packets.h"

#include <stdbool.h>
#include <stdint.h>

enum { max_hosts = 256 };

/*
 * What lies between hosts: each has a link of its own, with jitter, loss and bandwidth each way, and between the links of
 * two hosts there is a delay. A packet goes through the sender's link, the delay and the receiver's link, in this order.
 */

/* Same seed, same draws: the k-th packet from one host to another has the same fate and the same jitter in every run. */
void links_seed(uint64_t seed);
void links_set_delay(int from, int to, int64_t delay_ns);
/* Standard deviation, each way. Packets from one host to another never overtake each other. */
void links_set_jitter(int host, double deviation_ns);
/* From 0 to 1, each way. */
void links_set_loss(int host, double rate);
/* Each way; what finds more than queue_bytes waiting before it is dropped. 0 bits a second: no limit. */
void links_set_rate(int host, double bits_per_s, double queue_bytes);

/* Through the sender's link, and the delay. False: it is dropped, and has been counted. */
bool links_enter(struct packet *packet, int64_t now);

/* Through the receiver's link. links_wait: due_ns has become later. links_drop: it has been counted. */
enum links_exit { links_deliver, links_wait, links_drop };
enum links_exit links_exit(struct packet *packet);

#endif
