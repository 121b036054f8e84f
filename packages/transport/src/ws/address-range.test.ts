import { describe, expect, it } from 'vitest'
import { isPublicAddress, isPublicHost, routedAddress } from './address-range.ts'

describe('isPublicAddress', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.0.1',
    '223.255.255.255',
    '::ffff:8.8.8.8',
    '::ffff:808:808',
    '64:ff9b::8.8.8.8',
    '64:ff9b::808:808',
    '64:ff9b:0:0:0:0:808:800',
  ])('says so of %s', (address) => expect(isPublicAddress(address)).toBe(true))
  it.each(['2606:4700::1111', '2001:200::1', '2a00::', '3fff:1000::'])('says so of %s', (address) =>
    expect(isPublicAddress(address)).toBe(true),
  )
  it.each([
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255'],
    ...['192.168.1.1', '192.0.2.1', '198.18.0.1', '224.0.0.1', '255.255.255.255', '::ffff:127.0.0.1'],
    ...[
      '::',
      '::1',
      '::ffff:7f00:1',
      'fe80::1',
      'fc00::1',
      'fd12::1',
      'ff02::1',
      '64:ff9b::1',
      '64:ff9b::',
      '64:ff9b::10.0.0.1',
      '64:ff9b::7f00:1',
      '64:ff9b:1::808:808',
      '2002:7f00:1::',
    ],
    ...['2001::1', '2001:db8::1', '3fff::1', '', 'localhost', 'node.example'],
  ])('denies it of %j', (address) => expect(isPublicAddress(address)).toBe(false))
})

describe('isPublicHost', () => {
  it.each(['node.example', '8.8.8.8', '[2606:4700::1111]', 'localhost.example'])('says so of %s', (host) =>
    expect(isPublicHost(host)).toBe(true),
  )
  it.each([
    'localhost',
    'a.localhost',
    'printer.local',
    '127.0.0.1',
    '[::1]',
    '[fe80::1]',
    'router.home.arpa',
  ])('denies it of %s', (host) => expect(isPublicHost(host)).toBe(false))
})

describe('routedAddress', () => {
  it.each([
    ['8.8.8.8', '8.8.8.8'],
    ['64:ff9b::8.8.8.8', '8.8.8.8'],
    ['[64:ff9b::808:808]', '8.8.8.8'],
    ['64:FF9B::0808:0', '8.8.0.0'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['2606:4700:0::1111', '2606:4700::1111'],
    ['fe80::1%eth0', 'fe80::1%eth0'],
    ['node.example', 'node.example'],
  ])('of %s is %s', (address, routed) => expect(routedAddress(address)).toBe(routed))
})
