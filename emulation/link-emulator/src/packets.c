#include "packets.h"

#include <stddef.h>

static struct packet pool[max_packets];
static struct packet *unused[max_packets];
static unsigned unused_count;
/* Of the pool, those that were in use at least once: memory is touched only when it is needed. */
static unsigned touched;

struct packet *packet_take(void) {
  if (unused_count > 0) return unused[--unused_count];
  return touched < max_packets ? &pool[touched++] : NULL;
}

void packet_free(struct packet *packet) { unused[unused_count++] = packet; }

unsigned packets_in_flight(void) { return touched - unused_count; }

/* A binary heap. Due times are copied into it, so that comparing touches no packet. */
struct entry {
  int64_t due_ns;
  uint64_t order;
  struct packet *packet;
};

static struct entry heap[max_packets];
static unsigned size;
static uint64_t pushed;

static bool before(const struct entry *a, const struct entry *b) {
  return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

void flight_push(struct packet *packet) {
  struct entry entry = {packet->due_ns, pushed++, packet};
  unsigned at = size++;
  while (at > 0 && before(&entry, &heap[(at - 1) / 2])) {
    heap[at] = heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  heap[at] = entry;
}

struct packet *flight_first(void) { return size > 0 ? heap[0].packet : NULL; }

struct packet *flight_pop(void) {
  if (size == 0) return NULL;
  struct packet *first = heap[0].packet;
  struct entry last = heap[--size];
  unsigned at = 0;
  for (unsigned child = 1; child < size; child = 2 * at + 1) {
    if (child + 1 < size && before(&heap[child + 1], &heap[child])) child++;
    if (!before(&heap[child], &last)) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = last;
  return first;
}
