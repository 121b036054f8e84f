import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { idOf } from '../core.testkit.ts'
import { GuestTraffic } from './guest-traffic.ts'

const limits = { maxGuestBytesPerS: 100, guestWindowMs: 10_000 }

describe('the traffic of guests', () => {
  it('lets bursts through, and has the heaviest guest of the heaviest network go when it is too much for long', () => {
    const traffic = new GuestTraffic(limits)
    const take = (peer: number, network: string, bytes: number, nowMs = 0) =>
      traffic.take({ peerId: idOf(peer), network }, bytes, nowMs)
    expect(take(1, 'a', 300)).toEqual([])
    expect(take(2, 'a', 250)).toEqual([])
    expect(take(3, 'b', 400)).toEqual([])
    expect(take(3, 'b', 50)).toEqual([])
    expect(take(3, 'b', 1)).toEqual([idOf(1)])
    expect(take(3, 'b', 299)).toEqual([])
    expect(take(3, 'b', 900, limits.guestWindowMs)).toEqual([])
  })

  it('never has a guest go whose network took no more than its share', () => {
    const sent = fc.array(
      fc.record({ peer: fc.integer({ min: 1, max: 9 }), bytes: fc.integer({ min: 1, max: 400 }) }),
    )
    fc.assert(
      fc.property(sent, (packets) => {
        const traffic = new GuestTraffic(limits)
        const taken = new Map<number, number>()
        for (const { peer, bytes } of packets) {
          const of = (network: number) =>
            [...taken].reduce((sum, [guest, had]) => sum + (guest % 3 === network ? had : 0), 0)
          taken.set(peer, (taken.get(peer) ?? 0) + bytes)
          const victims = traffic.take({ peerId: idOf(peer), network: String(peer % 3) }, bytes, 0)
          for (const number of victims.map(Number)) {
            expect(of(number % 3)).toBeGreaterThan(1_000 / 3)
            taken.delete(number)
          }
        }
        expect([...taken.values()].reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(1_000)
      }),
    )
  })
})
