import { describe, expect, it } from 'vitest'
import { hostOf, networkOf } from './network-of.ts'

describe('the network of an address', () => {
  it.each([
    ['192.0.2.7', '192.0.2.0/24'],
    ['::ffff:192.0.2.200', '192.0.2.0/24'],
    ['2001:db8:1:2::3', '2001:db8:1::/48'],
    ['[2001:0db8:0001:ffff::3]', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0::/48'],
    ['::1', '0:0:0::/48'],
    ['example.org', 'example.org'],
    ['', ''],
  ])('%s is in %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })

  it('puts addresses of one site together, and of different sites apart', () => {
    expect(networkOf('2001:db8:1:aaaa::1')).toBe(networkOf('2001:db8:1:bbbb::9'))
    expect(networkOf('2001:db8:2::1')).not.toBe(networkOf('2001:db8:1::1'))
  })
})

describe('the addresses of a host', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:aaaa::3', '2001:db8:1:2::/64'],
    ['[2001:0db8:1:2::3%eth0]', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['example.org', 'example.org'],
    ['', ''],
  ])('%s is of %s', (address, host) => {
    expect(hostOf(address)).toBe(host)
  })
})
