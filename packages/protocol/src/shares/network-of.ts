/**
 * The network that an address belongs to, as what somebody has who has one address: the /24 of an IPv4 address, the /48 of an
 * IPv6 address, which is what a site is given (RFC 6177). An IPv4 address written as IPv6 (RFC 4291, 2.5.5.2) counts as IPv4.
 * What is not an address is its own network, so that a name or an empty text shares with nobody else.
 */
export function networkOf(address: string): string {
  const ipv4 = ipv4Of(address)
  if (ipv4 !== undefined) return `${ipv4.slice(0, ipv4.lastIndexOf('.'))}.0/24`
  return address.includes(':') ? prefixOf(address, 3) : address
}

/**
 * The addresses that one host has: the IPv4 address itself, the /64 of an IPv6 address, in which a host takes as many addresses as
 * it wants (RFC 7934). What is not an address is its own.
 */
export function hostOf(address: string): string {
  return ipv4Of(address) ?? (address.includes(':') ? prefixOf(address, 4) : address)
}

function ipv4Of(address: string): string | undefined {
  return /^\[?(?:::ffff:)?(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})\]?$/i.exec(address)?.[1]
}

/** So many groups of 16 bits of an IPv6 address. */
function prefixOf(address: string, count: number): string {
  const [left = '', right] = address
    .replace(/^\[|\]$/g, '')
    .replace(/%.*$/, '')
    .split('::')
  const before = left === '' ? [] : left.split(':')
  const after = right === undefined || right === '' ? [] : right.split(':')
  const zeros = right === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  const groups = [...before, ...Array<string>(zeros).fill('0'), ...after].slice(0, count)
  return `${groups.map((group) => (parseInt(group, 16) || 0).toString(16)).join(':')}::/${16 * count}`
}
