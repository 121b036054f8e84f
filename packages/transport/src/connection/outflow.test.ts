import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../memory/virtual-clock.ts'
import { OtherPackets } from '../urgent/other-packets.ts'
import { defaultConnectionLimits } from './limits.ts'
import { Outflow } from './outflow.ts'
import { newStats } from './stats.ts'

const { stallTimeoutMs, highMarkBytes, maxQueueBytes, reservedQueueBytes } = defaultConnectionLimits
const maxFrameBytes = 16 * 1024

/** An outflow beside urgent messages that take all of a link of 100 kbit/s, as soon as they begin. */
function setUp() {
  const clock = new VirtualClock()
  const others = new OtherPackets()
  const link = { isFull: true, isActive: false, frames: 0, stalls: 0 }
  const channel = {
    maxFrameBytes,
    get bufferedBytes() {
      return link.isFull ? highMarkBytes : 0
    },
    send: () => void link.frames++,
  }
  const outflow = new Outflow(channel, defaultConnectionLimits, {
    ...{ clock, stats: newStats(), onDrain: () => {}, onStalled: () => void link.stalls++ },
    urgent: () => ({
      othersFrameBytes: link.isActive ? 1_366 : Infinity,
      get roomForOthers() {
        return link.isActive ? others.roomBytes(clock.monotonicMs()) : Infinity
      },
      markOthers: (frame) => frame,
      othersSent: (bytes) => others.sent(bytes, { kbitPerS: 100, isLimited: true }, 100, clock.monotonicMs()),
    }),
  })
  return { clock, outflow, link }
}

describe('a queue that was stopped', () => {
  it('hands on nothing more, and refuses what it is given', () => {
    const { outflow, clock, link } = setUp()
    link.isFull = false
    outflow.stop()
    outflow.force(new Uint8Array(1))
    outflow.forceNow(new Uint8Array(1))
    expect(outflow.offer(new Uint8Array(1))).toBe(false)
    clock.advanceBy(1)
    expect([link.frames, outflow.empty]).toEqual([0, true])
  })
})

describe('a queue at its limit', () => {
  it('still takes what nothing makes up for, as much as it holds in reserve', () => {
    const { outflow } = setUp()
    const packet = new Uint8Array(1024)
    while (outflow.offer(packet));
    const takenBytes = outflow.queuedBytes
    expect(takenBytes).toBe(maxQueueBytes)
    expect(outflow.offer(packet, 'kept')).toBe(true)
    expect(outflow.offer(packet, 'ordinary')).toBe(false)
    while (outflow.offer(packet, 'kept'));
    expect(outflow.queuedBytes - takenBytes).toBe(reservedQueueBytes)
  })
})

describe('a queue of which nothing leaves', () => {
  it('is no stall of the peer while urgent messages take the link: its turn comes', () => {
    const { clock, outflow, link } = setUp()
    for (let i = 0; i < 3; i++) outflow.offer(new Uint8Array(maxFrameBytes))
    clock.advanceBy(1)
    Object.assign(link, { isFull: false, isActive: true })
    for (let ms = 0; ms < 4 * stallTimeoutMs; ms += 100) {
      outflow.flush()
      clock.advanceBy(100)
    }
    expect(link).toMatchObject({ frames: 3, stalls: 0 })
  })

  it('is one where the channel does not take it', () => {
    const { clock, outflow, link } = setUp()
    outflow.offer(new Uint8Array(maxFrameBytes))
    clock.advanceBy(stallTimeoutMs)
    expect(link).toMatchObject({ frames: 0, stalls: 1 })
  })
})
