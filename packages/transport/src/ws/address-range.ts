/**
 * IPv4 ranges that are not routed in the public network (the registries of RFC 6890), by prefix. The last: multicast,
 * reserved, broadcast.
 */
const ipv4Ranges = [
  [0x00000000, 8],
  [0x0a000000, 8],
  [0x64400000, 10],
  [0x7f000000, 8],
  [0xa9fe0000, 16],
  [0xac100000, 12],
  [0xc0000000, 24],
  [0xc0000200, 24],
  [0xc0586300, 24],
  [0xc0a80000, 16],
  [0xc6120000, 15],
  [0xc6336400, 24],
  [0xcb007100, 24],
  [0xe0000000, 3],
] as const
const ipv4Pattern = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/
/**
 * IPv4 embedded in IPv6 (RFC 4291, 2.5.5.2), and behind a NAT64 (RFC 6052, the well-known prefix), in the form of the URL
 * standard.
 */
const embeddedPattern = /^\[(?:::ffff:|64:ff9b::)([\da-f]{1,4}):([\da-f]{1,4})\]$/

/**
 * Where packets to this address end up: its embedded IPv4 address; else the address in the form of the URL standard, or the
 * text unchanged.
 */
export function routedAddress(host: string): string {
  const ip = host.replace(/^\[|\]$/g, '')
  if (!ip.includes(':')) return ip
  const canonical = URL.parse(`ws://[${ip}]`)?.hostname
  if (canonical === undefined) return ip
  const embedded = embeddedPattern.exec(canonical)
  if (embedded === null) return canonical.slice(1, -1)
  const groups = embedded.slice(1).map((group) => parseInt(group, 16))
  return groups.flatMap((group) => [group >>> 8, group & 255]).join('.')
}

/** Whether this is an IP address of the public network: not loopback, link-local, private, shared, multicast or reserved. */
export function isPublicAddress(address: string): boolean {
  const routed = routedAddress(address)
  const ipv4 = ipv4Pattern.exec(routed)
  if (ipv4 !== null) return isPublicIpv4(ipv4.slice(1).reduce((bits, part) => bits * 256 + Number(part), 0))
  return routed.includes(':') && isPublicIpv6(routed)
}

function isPublicIpv4(bits: number): boolean {
  return !ipv4Ranges.some(([range, prefix]) => bits >>> (32 - prefix) === range >>> (32 - prefix))
}

/** RFC 4291, section 2.4: 2000::/3 is global unicast. In it, 2001::/23 (Teredo and the like), documentation and 6to4 lead elsewhere. */
function isPublicIpv6(address: string): boolean {
  const [first = 0, second = 0] = address.split(':').map((group) => parseInt(group || '0', 16))
  if (first >>> 13 !== 1 || first === 0x2002) return false
  if (first === 0x2001) return second >= 0x200 && second !== 0x0db8
  return !(first === 0x3fff && second < 0x1000)
}

/**
 * The same for the host of a URL. Names are public, except those that mean this machine or its network (RFC 6761, RFC 6762).
 */
export function isPublicHost(host: string): boolean {
  const ip = host.replace(/^\[|\]$/g, '')
  if (ip.includes(':') || /^[\d.]+$/.test(ip)) return isPublicAddress(ip)
  return !/(^|\.)(localhost|local|internal|home\.arpa)\.?$/i.test(host)
}
