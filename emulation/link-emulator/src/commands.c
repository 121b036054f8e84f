#include "commands.h"

#include "hosts.h"
#include "statistics.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One more than any command has. */
enum { max_words = 5 };
/* Ten minutes; a terabit a second. Whatever is asked for stays far from overflowing nanoseconds. */
static const double max_us = 6e8;
static const double max_bits_per_s = 1e12;
static const double max_queue_bytes = 1e9;

static bool number(const char *word, double min, double max, double *value) {
  char *end;
  *value = strtod(word, &end);
  return end != word && *end == '\0' && isfinite(*value) && *value >= min && *value <= max;
}

/* The hosts that a word means: one by its number, or all. */
static bool host_range(const char *word, int *first, int *last) {
  double host;
  *first = 0;
  *last = host_count - 1;
  if (strcmp(word, "all") == 0) return true;
  if (!number(word, 0, host_count - 1, &host) || host != floor(host)) return false;
  *first = *last = (int)host;
  return true;
}

static const char *add_host(char **words) {
  struct in_addr address;
  if (inet_pton(AF_INET, words[1], &address) != 1) return "not an IPv4 address";
  int host = hosts_add(address.s_addr);
  if (host < 0) return strerror(errno);
  printf("{\"host\":%d,\"namespace\":\"/proc/%d/fd/%d\"}\n", host, (int)getpid(), hosts[host].network_namespace);
  return NULL;
}

static const char *set_delay(char **words) {
  int from, to, last_from, last_to;
  double us;
  if (!host_range(words[1], &from, &last_from) || !host_range(words[2], &to, &last_to)) return "no such host";
  if (!number(words[3], 0, max_us, &us)) return "not a delay in microseconds";
  for (int a = from; a <= last_from; a++)
    for (int b = to; b <= last_to; b++) links_set_delay(a, b, (int64_t)(us * 1000));
  printf("{}\n");
  return NULL;
}

static const char *set_jitter(char **words) {
  int first, last;
  double us;
  if (!host_range(words[1], &first, &last)) return "no such host";
  if (!number(words[2], 0, max_us, &us)) return "not a deviation in microseconds";
  for (int host = first; host <= last; host++) links_set_jitter(host, us * 1000);
  printf("{}\n");
  return NULL;
}

static const char *set_loss(char **words) {
  int first, last;
  double rate;
  if (!host_range(words[1], &first, &last)) return "no such host";
  if (!number(words[2], 0, 1, &rate)) return "not a rate from 0 to 1";
  for (int host = first; host <= last; host++) links_set_loss(host, rate);
  printf("{}\n");
  return NULL;
}

static const char *set_rate(char **words) {
  int first, last;
  double bits_per_s, queue_bytes;
  if (!host_range(words[1], &first, &last)) return "no such host";
  if (!number(words[2], 0, max_bits_per_s, &bits_per_s)) return "not a rate in bits a second";
  if (!number(words[3], 0, max_queue_bytes, &queue_bytes)) return "not a queue in bytes";
  for (int host = first; host <= last; host++) links_set_rate(host, bits_per_s, queue_bytes);
  printf("{}\n");
  return NULL;
}

static const char *set_seed(char **words) {
  double seed;
  if (!number(words[1], 0, 0x1p53, &seed)) return "not a seed";
  links_seed((uint64_t)seed);
  printf("{}\n");
  return NULL;
}

static const char *reset(char **words) {
  (void)words;
  statistics_reset();
  printf("{}\n");
  return NULL;
}

static const char *print(char **words) {
  (void)words;
  statistics_print(packets_in_flight());
  return NULL;
}

/* Each prints its answer, or returns what is wrong. */
static const struct {
  const char *name;
  int words;
  const char *(*run)(char **words);
} commands[] = {
    {"host", 2, add_host}, {"delay", 4, set_delay}, {"jitter", 3, set_jitter}, {"loss", 3, set_loss},
    {"rate", 4, set_rate}, {"seed", 2, set_seed},   {"stats", 1, print},       {"reset", 1, reset},
};

static const char *run(char **words, int count) {
  for (size_t at = 0; at < sizeof commands / sizeof *commands; at++)
    if (strcmp(commands[at].name, words[0]) == 0)
      return commands[at].words == count ? commands[at].run(words) : "wrong number of words";
  return "no such command";
}

void command_run(char *line) {
  char *words[max_words], *rest = NULL;
  int count = 0;
  for (char *word = strtok_r(line, " ", &rest); word != NULL && count < max_words; word = strtok_r(NULL, " ", &rest))
    words[count++] = word;
  const char *why = count == 0 ? "no command" : run(words, count);
  if (why != NULL) printf("{\"error\":\"%s\"}\n", why);
}
