import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../memory/virtual-clock.ts'
import type { DatagramLane } from './channel.ts'
import { connectionLimits } from './limits.ts'
import { LossyFlow } from './lossy-flow.ts'
import { newStats } from './stats.ts'

const limits = connectionLimits()

/** A flow over a lane that is written down. */
function setUp({ rttMs }: { rttMs: number | undefined } = { rttMs: 100 }) {
  const clock = new VirtualClock()
  const state = { isOpen: false, bufferedBytes: 0, rttMs, lives: [] as (number | undefined)[] }
  const frames: number[] = []
  const lane: DatagramLane = {
    get isOpen() {
      return state.isOpen
    },
    get bufferedBytes() {
      return state.bufferedBytes
    },
    onFrame: () => {},
    open: (maxLifeMs) => void state.lives.push(maxLifeMs),
    send: (frame) => void frames.push(frame.length),
  }
  const stats = newStats()
  const flow = new LossyFlow(lane, limits, { clock, stats, rttMs: () => state.rttMs })
  return { clock, state, frames, flow, stats }
}

const packet = (bytes = 100): Uint8Array => new Uint8Array(bytes)

describe('LossyFlow', () => {
  it('opens its lane when it is needed and the round-trip time is known, for a life in proportion', () => {
    const { state, flow } = setUp({ rttMs: undefined })
    expect([flow.offer(packet()), state.lives]).toEqual([false, []])
    for (const rttMs of [10, 400, 4_000]) {
      state.rttMs = rttMs
      expect(flow.offer(packet())).toBe(false)
    }
    const { minLossyLifeMs, maxLossyLifeMs } = limits
    expect(state.lives).toEqual([minLossyLifeMs + 20, minLossyLifeMs + 800, maxLossyLifeMs])
  })

  it('packs what is offered in one turn, and leaves what is too large to the channel', () => {
    const { clock, state, frames, flow, stats } = setUp()
    state.isOpen = true
    const offered = [packet(), packet(), packet(), packet(limits.maxLossyFrameBytes + 1)]
    expect(offered.map((one) => flow.offer(one))).toEqual([true, true, true, false])
    clock.advanceBy(1)
    expect(frames).toEqual([100, 200])
    expect(stats).toMatchObject({ packetsOut: 3, framesOut: 2, bytesOut: 300, packetsDropped: 0 })
    flow.stop()
  })

  it('leaves to the channel what would wait behind too much, and counts what waits', () => {
    const { state, flow, stats } = setUp()
    Object.assign(state, { isOpen: true, bufferedBytes: limits.maxLossyQueueBytes - 100 })
    expect([flow.offer(packet(101)), flow.queuedBytes]).toEqual([false, state.bufferedBytes])
    expect(flow.offer(packet(100))).toBe(true)
    expect(stats.packetsDropped).toBe(0)
    flow.stop()
  })
})
