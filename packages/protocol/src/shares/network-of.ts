/**
 * The network that an address belongs to, as what somebody has who has one address: the /24 of an IPv4 address, the /48 of an
 * IPv6 address, which is what a site is given (RFC 6177). An IPv4 address written as IPv6 (RFC 4291, 2.5.5.2) counts as IPv4.
 * What is not an address is its own network, so that a name or an empty text shares with nobody else.
 */
export function networkOf(address: string): string {
  const plain = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '')
  const ipv4 = /^(?:::ffff:)?(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.\d{1,3}$/i.exec(plain)
  if (ipv4 !== null) return `${ipv4[1]}.${ipv4[2]}.${ipv4[3]}.0/24`
  if (!plain.includes(':')) return address
  const [left = '', right] = plain.split('::')
  const before = left === '' ? [] : left.split(':')
  const after = right === undefined || right === '' ? [] : right.split(':')
  const zeros = right === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  const groups = [...before, ...Array<string>(zeros).fill('0'), ...after].slice(0, 3)
  return `${groups.map((group) => (parseInt(group, 16) || 0).toString(16)).join(':')}::/48`
}
