#define _GNU_SOURCE
#include "hosts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Packets that may wait in the device until they are read. What is more is dropped by the kernel, which counts it. */
enum { device_queue = 10000, mtu = 1500 };
_Static_assert((int)mtu <= (int)max_packet_bytes, "a packet fits");

struct host hosts[max_hosts];
int host_count;

static struct sockaddr internet_address(uint32_t address) {
  struct sockaddr_in internet = {.sin_family = AF_INET, .sin_addr.s_addr = address};
  struct sockaddr any;
  memcpy(&any, &internet, sizeof any);
  return any;
}

static int bring_up(int control, const char *name) {
  struct ifreq request = {.ifr_flags = IFF_UP | IFF_RUNNING};
  strcpy(request.ifr_name, name);
  return ioctl(control, SIOCSIFFLAGS, &request);
}

/* With a socket of the device's namespace. */
static int configure(int control, struct ifreq request, uint32_t address) {
  request.ifr_mtu = mtu;
  if (ioctl(control, SIOCSIFMTU, &request) < 0) return -1;
  request.ifr_qlen = device_queue;
  if (ioctl(control, SIOCSIFTXQLEN, &request) < 0) return -1;
  request.ifr_addr = internet_address(address);
  if (ioctl(control, SIOCSIFADDR, &request) < 0) return -1;
  request.ifr_addr = internet_address(htonl(0xff000000));
  if (ioctl(control, SIOCSIFNETMASK, &request) < 0) return -1;
  return bring_up(control, request.ifr_name) < 0 || bring_up(control, "lo") < 0 ? -1 : 0;
}

/* Nothing but IPv4 goes anywhere: neighbour discovery would only be noise. */
static void disable_ipv6(void) {
  int setting = open("/proc/sys/net/ipv6/conf/default/disable_ipv6", O_WRONLY | O_CLOEXEC);
  if (setting < 0) return;
  if (write(setting, "1", 1) < 0) errno = 0;
  close(setting);
}

static int open_device(uint32_t address) {
  int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (device < 0) return -1;
  struct ifreq request = {.ifr_name = "em0", .ifr_flags = IFF_TUN | IFF_NO_PI};
  int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (control < 0 || ioctl(device, TUNSETIFF, &request) < 0 || configure(control, request, address) < 0) {
    int error = errno;
    close(device);
    device = -1;
    errno = error;
  }
  if (control >= 0) close(control);
  return device;
}

int hosts_add(uint32_t address) {
  if (host_count == max_hosts || hosts_find(address) >= 0) {
    errno = host_count == max_hosts ? ENOSPC : EADDRINUSE;
    return -1;
  }
  if (unshare(CLONE_NEWNET) < 0) return -1;
  disable_ipv6();
  struct host host = {.address = address, .device = open_device(address)};
  if (host.device < 0) return -1;
  host.network_namespace = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  if (host.network_namespace < 0) {
    close(host.device);
    return -1;
  }
  hosts[host_count] = host;
  return host_count++;
}

/* One after the other: 256 comparisons take less than reading the packet did. */
int hosts_find(uint32_t address) {
  for (int host = 0; host < host_count; host++)
    if (hosts[host].address == address) return host;
  return -1;
}
