import { BlockList, isIP } from 'node:net'

/** RFC 6890 and its registries: what is not routed in the public network, by prefix. */
const inside: readonly (readonly [address: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  // Multicast, reserved and broadcast.
  ['224.0.0.0', 3],
]
const blocked = new BlockList()
for (const [address, prefix] of inside) blocked.addSubnet(address, prefix, 'ipv4')

/** Global unicast of IPv6 (RFC 4291, section 2.4), and what in it leads elsewhere: Teredo and the like, documentation, 6to4. */
const unicast = new BlockList()
unicast.addSubnet('2000::', 3, 'ipv6')
const special = new BlockList()
special.addSubnet('2001::', 23, 'ipv6')
special.addSubnet('2001:db8::', 32, 'ipv6')
special.addSubnet('2002::', 16, 'ipv6')
special.addSubnet('3fff::', 20, 'ipv6')

/** Whether an IP address is one of the public network: no loopback, link-local, private, shared, multicast or reserved one. */
export function isPublicAddress(address: string): boolean {
  const mapped = address.replace(/^::ffff:(?=\d+\.)/i, '')
  switch (isIP(mapped)) {
    case 4:
      return !blocked.check(mapped, 'ipv4')
    case 6:
      return unicast.check(mapped, 'ipv6') && !special.check(mapped, 'ipv6')
    default:
      return false
  }
}
