import { isIPv6 } from 'node:net'

/** Groups requesters by address: with IPv4 the address, with IPv6 its first 64 bits, which is what one customer gets. */
export function remoteNetworkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  if (mapped !== undefined) return mapped
  const [head = '', tail] = address.split('::')
  const [before, after] = [head, tail ?? ''].map((text) => (text === '' ? [] : text.split(':')))
  const gap = Array<string>(Math.max(0, 8 - (before?.length ?? 0) - (after?.length ?? 0))).fill('0')
  const groups = [...(before ?? []), ...gap, ...(after ?? [])]
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
