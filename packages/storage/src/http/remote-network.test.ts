import { describe, expect, it } from 'vitest'
import { remoteNetworkOf } from './remote-network.ts'

describe('remoteNetworkOf', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:0:1:2:3:4:5', '2001:db8:0:1'],
    ['2001:0DB8::1:2:3:4:5', '2001:db8:0:1'],
    ['2001:db8::5', '2001:db8:0:0'],
    ['2001:db8:1:2::', '2001:db8:1:2'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::1', '0:0:0:0'],
    ['', ''],
  ])('%s is of %s', (address, network) => {
    expect(remoteNetworkOf(address)).toBe(network)
  })
})
