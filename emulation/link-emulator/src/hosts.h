#ifndef HOSTS_H
#define HOSTS_H

#include "links.h"

#include <stdint.h>

struct host {
  /* In network byte order. */
  uint32_t address;
  /* The TUN device. */
  int device;
  /* Keeps the network namespace alive; others enter it by /proc/PID/fd/NAMESPACE. */
  int network_namespace;
};

extern struct host hosts[max_hosts];
extern int host_count;

/*
 * Makes a network namespace with a device of this address and the route 10.0.0.0/8 through it. Namespace and device are gone
 * when this process and those in the namespace have ended. Returns the number of the host, or -1 with errno.
 */
int hosts_add(uint32_t address);
/* -1 when nobody has this address. */
int hosts_find(uint32_t address);

#endif
