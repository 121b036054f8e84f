#ifndef PACKETS_H
#define PACKETS_H

#include <stdbool.h>
#include <stdint.h>

/* Packets in flight: 0.2 s of 300,000 a second. max_packet_bytes is more than the MTU of the devices. */
enum { max_packets = 65536, max_packet_bytes = 1600 };

struct packet {
  int64_t due_ns;
  uint16_t from;
  uint16_t to;
  uint16_t length;
  /* It has waited for its turn on the receiver's link. */
  bool at_receiver;
  uint8_t bytes[max_packet_bytes];
};

/* NULL while max_packets are in flight. */
struct packet *packet_take(void);
void packet_free(struct packet *packet);
unsigned packets_in_flight(void);

/* In flight by due_ns; those due at the same time come out as they went in. */
void flight_push(struct packet *packet);
/* Both NULL when nothing is in flight. */
struct packet *flight_first(void);
struct packet *flight_pop(void);

#endif
