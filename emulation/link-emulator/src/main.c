/*
 * Links between hosts on one machine: a network namespace and a TUN device for each host, and a delay, jitter, loss and
 * bandwidth for what goes from one to another. Commands come on standard input (commands.h), and when it ends, so does this.
 */
#define _GNU_SOURCE
#include "clock.h"
#include "commands.h"
#include "hosts.h"
#include "links.h"
#include "packets.h"
#include "statistics.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* read_at_once: packets of one host before the others have their turn, and what is due goes out. */
enum { max_events = 64, read_at_once = 32, real_time_priority = 50 };
/* How often the substitute looks, while packets are in flight and otherwise. */
static const int64_t look_ns = 200000;
static const int64_t look_idle_ns = 1000000;
/* What epoll says of that which is no host. */
enum { from_commands = max_hosts, from_timer };

static int epoll;
static int timer;
/* Held by the thread that works. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "link-emulator: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void watch(int descriptor, uint32_t source) {
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = source};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) < 0) fail("epoll_ctl");
}

/* Hands on what is due. */
static void release(void) {
  int64_t now = now_ns(CLOCK_MONOTONIC);
  for (struct packet *packet; (packet = flight_first()) != NULL && packet->due_ns <= now;) {
    flight_pop();
    enum links_exit exit = links_exit(packet);
    if (exit == links_wait) {
      flight_push(packet);
      continue;
    }
    if (exit == links_deliver) {
      now = now_ns(CLOCK_MONOTONIC);
      if (write(hosts[packet->to].device, packet->bytes, packet->length) == packet->length) {
        statistics.delivered++;
        statistics_lateness(now - packet->due_ns);
      } else {
        statistics.refused++;
      }
    }
    packet_free(packet);
  }
}

/* The timer goes off when the next packet is due. */
static void arm(void) {
  static int64_t armed_ns;
  const struct packet *first = flight_first();
  int64_t due_ns = first == NULL ? 0 : first->due_ns;
  if (due_ns == armed_ns) return;
  struct itimerspec when = {.it_value = {due_ns / 1000000000, due_ns % 1000000000}};
  if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL) < 0) fail("timerfd_settime");
  armed_ns = due_ns;
}

/* Finds the receiver by the destination of the IPv4 header. False: dropped, and counted. */
static bool accept_packet(struct packet *packet, int from, int64_t now) {
  uint32_t destination;
  statistics.packets++;
  statistics.bytes += packet->length;
  memcpy(&destination, packet->bytes + 16, sizeof destination);
  bool is_ipv4 = packet->length >= 20 && packet->bytes[0] >> 4 == 4;
  int to = is_ipv4 ? hosts_find(destination) : -1;
  if (to < 0) {
    statistics.unroutable++;
    return false;
  }
  packet->from = (uint16_t)from;
  packet->to = (uint16_t)to;
  return links_enter(packet, now);
}

static void read_packets(int from) {
  for (int count = 0; count < read_at_once; count++) {
    static struct packet spare;
    struct packet *packet = packet_take();
    bool is_spare = packet == NULL;
    if (is_spare) packet = &spare;
    ssize_t length = read(hosts[from].device, packet->bytes, max_packet_bytes);
    if (length < 0) {
      if (!is_spare) packet_free(packet);
      if (errno == EAGAIN || errno == EINTR) return;
      fail("reading a device");
    }
    packet->length = (uint16_t)length;
    if (is_spare) {
      statistics.packets++;
      statistics.pool_full++;
    } else if (accept_packet(packet, from, now_ns(CLOCK_MONOTONIC))) {
      flight_push(packet);
    } else {
      packet_free(packet);
    }
  }
}

static void run_line(char *line) {
  int before = host_count;
  command_run(line);
  if (host_count > before) watch(hosts[before].device, (uint32_t)before);
}

/* Runs every line that has come. False at the end of standard input. */
static bool read_commands(void) {
  static char buffer[max_line];
  static size_t kept;
  ssize_t length = read(STDIN_FILENO, buffer + kept, sizeof buffer - kept);
  if (length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR)) return false;
  if (length < 0) return true;
  size_t size = kept + (size_t)length, start = 0;
  for (char *end; (end = memchr(buffer + start, '\n', size - start)) != NULL;) {
    *end = '\0';
    run_line(buffer + start);
    start = (size_t)(end + 1 - buffer);
  }
  kept = size - start;
  memmove(buffer, buffer + start, kept);
  fflush(stdout);
  if (kept < sizeof buffer) return true;
  errno = EMSGSIZE;
  fail("a command");
}

static void work(const struct epoll_event *events, int count) {
  release();
  for (int event = 0; event < count; event++) {
    uint32_t source = events[event].data.u32;
    if (source >= max_hosts) continue;
    read_packets((int)source);
    release();
  }
  arm();
}

/* Until standard input ends. */
static void run(void) {
  for (;;) {
    struct epoll_event events[max_events];
    int count = epoll_wait(epoll, events, max_events, -1);
    if (count < 0 && errno != EINTR) fail("epoll_wait");
    pthread_mutex_lock(&turn);
    work(events, count);
    bool is_over = false;
    for (int event = 0; event < count; event++)
      if (events[event].data.u32 == from_commands && !read_commands()) is_over = true;
    pthread_mutex_unlock(&turn);
    if (is_over) return;
  }
}

/*
 * A processor that is busy in the kernel for somebody else does not even give a real-time thread its turn. So there is a second one,
 * on another processor: it looks now and then whether something has been left undone, and does it.
 */
static void *substitute(void *unused) {
  struct timespec pause = {.tv_nsec = look_idle_ns};
  for (;;) {
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    pthread_mutex_lock(&turn);
    struct epoll_event events[max_events];
    work(events, epoll_wait(epoll, events, max_events, 0));
    pause.tv_nsec = packets_in_flight() > 0 ? look_ns : look_idle_ns;
    pthread_mutex_unlock(&turn);
  }
  return unused;
}

static void pin(pthread_t thread, int processor) {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  CPU_SET(processor, &processors);
  if ((errno = pthread_setaffinity_np(thread, sizeof processors, &processors)) != 0) fail("pthread_setaffinity_np");
}

/* Where there are two processors: this thread to the first, a substitute to the second. */
static void start_substitute(void) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) < 0) fail("sched_getaffinity");
  if (CPU_COUNT(&allowed) < 2) return;
  pthread_t second;
  if ((errno = pthread_create(&second, NULL, substitute, NULL)) != 0) fail("pthread_create");
  int processor = 0;
  while (!CPU_ISSET(processor, &allowed)) processor++;
  pin(pthread_self(), processor);
  do processor++;
  while (!CPU_ISSET(processor, &allowed));
  pin(second, processor);
}

int main(void) {
  struct sched_param priority = {.sched_priority = real_time_priority};
  is_real_time = sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
  links_seed(0);
  epoll = epoll_create1(EPOLL_CLOEXEC);
  timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (epoll < 0 || timer < 0) fail("epoll and timerfd");
  watch(STDIN_FILENO, from_commands);
  watch(timer, from_timer);
  start_substitute();
  run();
  return 0;
}
