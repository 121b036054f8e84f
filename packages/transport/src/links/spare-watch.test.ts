import { encodePacket, packetBytes, PacketType } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { splitPacket } from '../connection/fragments.ts'
import { IncomingFrames } from '../connection/incoming-frames.ts'
import { newStats } from '../connection/stats.ts'
import { VirtualClock } from '../memory/virtual-clock.ts'
import { SpareWatch } from './spare-watch.ts'

const maxFrameBytes = 16 * 1024
const maxMs = 300_000
const lookEveryMs = 10_000

/** A connection that was replaced, whose pings are answered at once. */
function setUp() {
  const clock = new VirtualClock()
  const stats = newStats()
  const incoming = new IncomingFrames(
    { channel: { maxFrameBytes }, maxPacketBytes: 2 ** 20, knowsUrgent: true, knowsLossy: false },
    {
      stats,
      isOpen: () => true,
      heard() {},
      onLinkPacket() {},
      onUrgent() {},
      onPacket() {},
      onBadInput(error) {
        throw error
      },
    },
  )
  const spare = { queuedBytes: 0, stats, answeredMs: 0 }
  const watch = new SpareWatch({ maxMs }, { spare, clock })
  const answer = (): void => {
    incoming.onFrame(encodePacket({ type: 'pong', token: 1 }))
    spare.answeredMs = clock.monotonicMs()
  }
  const look = (): boolean => {
    clock.advanceBy(lookEveryMs)
    return watch.isQuiet()
  }
  return { incoming, spare, answer, look }
}

describe('a connection that another one has replaced', () => {
  it('is quiet when nothing but answers comes', () => {
    const { answer, look } = setUp()
    expect(look()).toBe(false)
    answer()
    expect(look()).toBe(true)
  })

  it('is not while fragments of one packet come', () => {
    const { incoming, answer, look } = setUp()
    const fragments = splitPacket(packetBytes(PacketType.data, new Uint8Array(100_000)), maxFrameBytes)
    expect(fragments.length).toBeGreaterThan(5)
    for (const fragment of fragments) {
      answer()
      incoming.onFrame(fragment)
      expect(look()).toBe(false)
    }
    answer()
    expect(look()).toBe(true)
  })

  it('is not before what was queued has been followed by an answered ping', () => {
    const { spare, answer, look } = setUp()
    spare.queuedBytes = 1
    answer()
    expect(look()).toBe(false)
    answer()
    spare.queuedBytes = 0
    expect(look()).toBe(false)
    answer()
    expect(look()).toBe(false)
    answer()
    expect(look()).toBe(true)
  })

  it('passes for quiet in the end, whatever comes', () => {
    const { incoming, answer, look } = setUp()
    for (let ms = lookEveryMs; ms <= maxMs; ms += lookEveryMs) {
      answer()
      incoming.onFrame(packetBytes(PacketType.data, new Uint8Array(1)))
      expect(look()).toBe(ms === maxMs)
    }
  })
})
