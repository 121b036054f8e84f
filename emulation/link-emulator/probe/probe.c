/*
 * How long UDP packets take from one network namespace to another, by the kernel's time of arrival: what waits for a turn of this
 * process is not counted.
 *
 *   probe PACKETS INTERVAL_US BYTES (NAMESPACE_FROM NAMESPACE_TO ADDRESS_TO DELAY_US)...
 *
 * Sends PACKETS on each way, one every INTERVAL_US over all of them (0: as fast as it can), and prints for each that arrives a
 * line "WAY SEQUENCE DELAY_NS STALLED", in the order of arrival. DELAY_US is what is expected; STALLED is 1 when the machine
 * stalled (stalls.h) when the packet was sent or due, so that its delay says nothing of the way. At the
 * end comes "sent SECONDS WAKE_P99_NS": how long sending took, and how late the machine wakes real-time processes.
 */
#define _GNU_SOURCE
#include "../src/clock.h"
#include "stalls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { max_ways = 64, max_bytes = 1472, port = 40000, receive_buffer = 64 << 20, receive_every = 256, priority = 40 };
/* What has not arrived so long after it is due is lost. */
static const int64_t patience_ns = 500000000;

/* What a stall held up is through after this time. */
static const int64_t aftermath_ns = 1000000;

struct way {
  int64_t delay_ns;
  int sender;
  int receiver;
};

struct payload {
  int64_t sent_ns;
  int64_t sequence;
};

struct arrival {
  int way;
  int64_t sequence;
  int64_t sent_ns;
  int64_t received_ns;
};

static struct way ways[max_ways];
static int way_count;
static struct arrival *arrivals;
static long arrived;

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "probe: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int socket_in(const char *network_namespace) {
  int entry = open(network_namespace, O_RDONLY | O_CLOEXEC);
  if (entry < 0 || setns(entry, CLONE_NEWNET) < 0) fail(network_namespace);
  close(entry);
  int udp = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (udp < 0) fail("socket");
  return udp;
}

static void open_way(struct way *way, char **words) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
  if (inet_pton(AF_INET, words[2], &to.sin_addr) != 1) fail(words[2]);
  int on = 1, bytes = receive_buffer;
  way->delay_ns = atol(words[3]) * 1000;
  way->receiver = socket_in(words[1]);
  setsockopt(way->receiver, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
  if (setsockopt(way->receiver, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) < 0) fail("SO_TIMESTAMPNS");
  if (setsockopt(way->receiver, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) < 0) fail("SO_REUSEPORT");
  way->sender = socket_in(words[0]);
  if (connect(way->sender, (struct sockaddr *)&to, sizeof to) < 0) fail("connect");
  /* Several ways may lead to one host: each receiver takes only what its own sender sends. */
  struct sockaddr_in from;
  socklen_t length = sizeof from;
  if (getsockname(way->sender, (struct sockaddr *)&from, &length) < 0) fail("getsockname");
  if (bind(way->receiver, (struct sockaddr *)&to, sizeof to) < 0) fail("bind");
  if (connect(way->receiver, (struct sockaddr *)&from, sizeof from) < 0) fail("connect");
}

/* False: nothing more waits in the receiver's socket. */
static bool receive(int way) {
  struct payload payload;
  char control[CMSG_SPACE(sizeof(struct timespec))];
  struct iovec part = {&payload, sizeof payload};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  if (recvmsg(ways[way].receiver, &message, 0) < (ssize_t)sizeof payload) return false;
  const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header == NULL || header->cmsg_type != SO_TIMESTAMPNS) fail("no time of arrival");
  struct timespec time;
  memcpy(&time, CMSG_DATA(header), sizeof time);
  int64_t received_ns = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
  arrivals[arrived++] = (struct arrival){way, payload.sequence, payload.sent_ns, received_ns};
  return true;
}

static void receive_all(void) {
  for (int way = 0; way < way_count; way++)
    while (receive(way)) continue;
}

static void send_packet(int way, int64_t sequence, size_t bytes) {
  char packet[max_bytes] = {0};
  struct payload payload = {now_ns(CLOCK_REALTIME), sequence};
  memcpy(packet, &payload, sizeof payload);
  if (send(ways[way].sender, packet, bytes, 0) < 0 && errno != EAGAIN && errno != ENOBUFS) fail("send");
}

static void sleep_until(int64_t time_ns) {
  struct timespec time = {time_ns / 1000000000, time_ns % 1000000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR) continue;
}

static void print(const struct arrival *arrival) {
  int64_t due_ns = arrival->sent_ns + ways[arrival->way].delay_ns;
  bool stalled = stalls_overlap(arrival->sent_ns - aftermath_ns, arrival->sent_ns + aftermath_ns) ||
                 stalls_overlap(due_ns - aftermath_ns, due_ns + aftermath_ns);
  printf("%d %" PRId64 " %" PRId64 " %d\n", arrival->way, arrival->sequence, arrival->received_ns - arrival->sent_ns, stalled);
}

/* Sleeping takes some 50 us itself: at higher rates, several packets are sent after one sleep. */
static long at_once(long interval_us) { return interval_us < 100 ? 100 / interval_us : 1; }

int main(int count, char **words) {
  way_count = (count - 4) / 4;
  if (way_count < 1 || way_count > max_ways || (count - 4) % 4 != 0) return 64;
  long packets = atol(words[1]), interval_us = atol(words[2]), bytes = atol(words[3]);
  if (packets < 1 || interval_us < 0 || bytes < (long)sizeof(struct payload) || bytes > max_bytes) return 64;
  /* A duplicate would be one too many: there is room to see it. */
  arrivals = calloc((size_t)(2 * packets * way_count), sizeof *arrivals);
  if (arrivals == NULL) fail("memory");
  for (int way = 0; way < way_count; way++) open_way(&ways[way], words + 4 + 4 * way);
  struct sched_param real_time = {.sched_priority = priority};
  sched_setscheduler(0, SCHED_FIFO, &real_time);
  stalls_watch();

  int64_t start = now_ns(CLOCK_MONOTONIC);
  for (long step = 0; step < packets * way_count; step++) {
    int way = (int)(step % way_count);
    if (interval_us > 0 && step % at_once(interval_us) == 0) sleep_until(start + step * interval_us * 1000);
    send_packet(way, step / way_count, (size_t)bytes);
    if (step % receive_every == 0) receive_all();
  }
  int64_t end = now_ns(CLOCK_MONOTONIC), longest_ns = 0;
  for (int way = 0; way < way_count; way++)
    if (ways[way].delay_ns > longest_ns) longest_ns = ways[way].delay_ns;
  for (int64_t now = end; now < end + longest_ns + patience_ns; now = now_ns(CLOCK_MONOTONIC)) {
    receive_all();
    sleep_until(now + 10000000);
  }
  stalls_end();
  for (long at = 0; at < arrived; at++) print(&arrivals[at]);
  printf("sent %.6f %" PRId64 "\n", (double)(end - start) / 1e9, stalls_lateness_ns(0.99));
  return 0;
}
