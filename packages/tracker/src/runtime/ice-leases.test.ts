import { carrierKind, type Contact, type NodeId } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { expect, it } from 'vitest'
import { createIceServerSource } from '../ice/ice-server-source.ts'
import { IceLeases } from './ice-leases.ts'

const idOf = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as NodeId
const urlOf = (n: number) => `wss://carrier${n}.example`
const contactOf = (n: number): Contact => ({
  addresses: [{ kind: carrierKind, text: urlOf(n) }],
  dials: [],
})
const network = '192.0.2.0/24'
const others = ['198.51.100.0/24', '203.0.113.0/24']

it('the first carriers are named, but one of each network before a second of any', () => {
  const clock = new VirtualClock()
  const leases = new IceLeases({ ice: createIceServerSource({}), clock })
  const named = () => {
    clock.advanceBy(60_000)
    Array.from(leases.takeNewCarriers())
    return leases.grant(idOf(99))?.servers.map(({ url }) => url)
  }
  for (let n = 0; n < 5; n++) leases.reached(idOf(n), contactOf(n), network)
  leases.reached(idOf(5), contactOf(5), others[0] ?? '')
  expect(named()).toEqual([0, 5, 1, 2].map(urlOf))

  leases.gone(idOf(0))
  expect(named()).toEqual([1, 5, 2, 3].map(urlOf))

  // It comes from another network than before.
  leases.reached(idOf(3), contactOf(3), others[1] ?? '')
  expect(named()).toEqual([1, 5, 3, 2].map(urlOf))

  // It carries no more, then all of them.
  leases.reached(idOf(5), { addresses: [], dials: [] }, others[0] ?? '')
  expect(named()).toEqual([1, 3, 2, 4].map(urlOf))
  for (let n = 0; n < 6; n++) leases.gone(idOf(n))
  expect(named()).toBeUndefined()
})
