#include "links.h"

#include "random.h"
#include "statistics.h"

#include <math.h>

enum direction { up, down };

struct link {
  double loss;
  double jitter_ns;
  double ns_per_byte;
  double queue_ns;
  int64_t busy_until_ns[2];
};

struct pair {
  /* One more than the delay; 0: no way there. */
  int64_t delay_plus_1_ns;
  int64_t last_due_ns;
  random_state loss[2];
  random_state jitter;
};

static struct link links[max_hosts];
static struct pair pairs[max_hosts][max_hosts];

void links_seed(uint64_t seed) {
  uint64_t stream = 0;
  for (int from = 0; from < max_hosts; from++)
    for (int to = 0; to < max_hosts; to++) {
      struct pair *pair = &pairs[from][to];
      pair->loss[up] = random_seeded(seed, stream++);
      pair->loss[down] = random_seeded(seed, stream++);
      pair->jitter = random_seeded(seed, stream++);
    }
}

void links_set_delay(int from, int to, int64_t delay_ns) { pairs[from][to].delay_plus_1_ns = delay_ns + 1; }

void links_set_jitter(int host, double deviation_ns) { links[host].jitter_ns = deviation_ns; }

void links_set_loss(int host, double rate) { links[host].loss = rate; }

void links_set_rate(int host, double bits_per_s, double queue_bytes) {
  struct link *link = &links[host];
  link->ns_per_byte = bits_per_s > 0 ? 8e9 / bits_per_s : 0;
  link->queue_ns = queue_bytes * link->ns_per_byte;
}

static bool is_lost(const struct packet *packet, const struct link *link, enum direction direction) {
  if (link->loss == 0) return false;
  if (random_uniform(&pairs[packet->from][packet->to].loss[direction]) >= link->loss) return false;
  statistics.lost++;
  return true;
}

/* When the last bit of a packet that came at `at_ns` is on the link; negative when the queue is full. */
static int64_t through(struct link *link, enum direction direction, int64_t at_ns, unsigned bytes) {
  if (link->ns_per_byte == 0) return at_ns;
  int64_t start_ns = link->busy_until_ns[direction] > at_ns ? link->busy_until_ns[direction] : at_ns;
  if ((double)(start_ns - at_ns) > link->queue_ns) {
    statistics.queue_full++;
    return -1;
  }
  return link->busy_until_ns[direction] = start_ns + (int64_t)(bytes * link->ns_per_byte);
}

bool links_enter(struct packet *packet, int64_t now) {
  struct pair *pair = &pairs[packet->from][packet->to];
  if (pair->delay_plus_1_ns == 0) {
    statistics.unroutable++;
    return false;
  }
  struct link *link = &links[packet->from];
  int64_t sent_ns = through(link, up, now, packet->length);
  if (sent_ns < 0 || is_lost(packet, link, up)) return false;

  int64_t delay_ns = pair->delay_plus_1_ns - 1;
  double jitter_ns = hypot(link->jitter_ns, links[packet->to].jitter_ns);
  if (jitter_ns > 0) delay_ns += (int64_t)(jitter_ns * random_normal(&pair->jitter));
  int64_t due_ns = sent_ns + (delay_ns > 0 ? delay_ns : 0);
  packet->due_ns = pair->last_due_ns = due_ns > pair->last_due_ns ? due_ns : pair->last_due_ns;
  packet->at_receiver = false;
  return true;
}

enum links_exit links_exit(struct packet *packet) {
  struct link *link = &links[packet->to];
  if (packet->at_receiver) return links_deliver;
  int64_t received_ns = through(link, down, packet->due_ns, packet->length);
  if (received_ns < 0 || is_lost(packet, link, down)) return links_drop;
  if (received_ns == packet->due_ns) return links_deliver;
  packet->due_ns = received_ns;
  packet->at_receiver = true;
  return links_wait;
}
