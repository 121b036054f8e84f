import { seededRandom, type Cancel } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../memory/virtual-clock.ts'
import { Heartbeat } from './heartbeat.ts'
import type { ConnectionLimits } from './limits.ts'

/** Its timers fire up to a millisecond early, as those of Node do. */
class HastyClock extends VirtualClock {
  override schedule(delayMs: number, fn: () => void): Cancel {
    return super.schedule(Math.trunc(delayMs), fn)
  }
}

function setUp({
  onPing = () => {},
  clock = new VirtualClock(),
  ...options
}: { onPing?: () => unknown; clock?: VirtualClock } & Partial<ConnectionLimits> = {}) {
  const pings: { readonly token: number; readonly atMs: number }[] = []
  const outflow = { queuedBytes: 0, leftBytes: 0 }
  let deadAtMs: number | undefined
  const heartbeat = new Heartbeat(
    { pingIntervalMs: 3000, maxPingIntervalMs: 3000, maxMissedPongs: 3, rttIntervalMs: 30_000, ...options },
    {
      clock,
      random: seededRandom('pings'),
      outflow,
      sendPing: (token) => {
        pings.push({ token, atMs: clock.monotonicMs() })
        onPing()
      },
      onDead: () => (deadAtMs = clock.monotonicMs()),
    },
  )
  const pong = (): void => {
    heartbeat.heard()
    heartbeat.onPong(pings.at(-1)?.token ?? 0)
  }
  return { clock, pings, outflow, heartbeat, pong, deadAtMs: () => deadAtMs }
}

describe('Heartbeat', () => {
  it('pings at once, then when the link is silent, and gives up after three missed', () => {
    const { clock, pings, heartbeat, deadAtMs } = setUp()
    heartbeat.start()
    clock.advanceBy(60_000)
    expect(pings.map(({ atMs }) => atMs)).toEqual([0, 3000, 6000, 9000])
    expect(deadAtMs()).toBe(12_000)
  })

  it('pings a busy link only for the round-trip time', () => {
    const { clock, pings, heartbeat, deadAtMs } = setUp()
    heartbeat.start()
    for (let i = 0; i < 60; i++) {
      clock.advanceBy(1000)
      heartbeat.heard()
    }
    expect(pings.length).toBeLessThanOrEqual(3)
    expect(pings.length).toBeGreaterThanOrEqual(2)
    expect(deadAtMs()).toBeUndefined()
  })

  it('pings no more when the connection ends while a ping is sent', () => {
    const { clock, pings, heartbeat, deadAtMs } = setUp({
      onPing: () => pings.length === 2 && heartbeat.stop(),
    })
    heartbeat.start()
    clock.advanceBy(60_000)
    expect(pings.length).toBe(2)
    expect(deadAtMs()).toBeUndefined()
  })

  it('smooths the round-trip time as RFC 6298 does', () => {
    const { clock, heartbeat, pong } = setUp()
    heartbeat.start()
    clock.advanceBy(80)
    pong()
    expect(heartbeat.rttMs).toBe(80)
    clock.advanceBy(3000 + 160)
    pong()
    expect(heartbeat.rttMs).toBe(80 + (160 - 80) / 8)
  })

  it('takes an answer that comes after the next ping, and none twice or unasked', () => {
    const { clock, pings, heartbeat } = setUp({ pingIntervalMs: 50 })
    heartbeat.start()
    clock.advanceBy(120)
    expect(pings.length).toBe(3)
    heartbeat.onPong(pings[1]?.token ?? 0)
    expect(heartbeat.rttMs).toBe(70)
    clock.advanceBy(5)
    heartbeat.onPong(pings[1]?.token ?? 0)
    heartbeat.onPong(pings[0]?.token ?? 0)
    heartbeat.onPong(999)
    expect(heartbeat.rttMs).toBe(70)
  })

  it('asks what nobody can answer before it has come', () => {
    const { clock, pings, heartbeat } = setUp({ pingIntervalMs: 1, maxMissedPongs: 1_000 })
    heartbeat.start()
    clock.advanceBy(1_000)
    const tokens = pings.map(({ token }) => token)
    expect(new Set(tokens).size).toBe(tokens.length)
    expect(tokens.some((token, i) => token === (tokens[i - 1] ?? 0) + 1)).toBe(false)
    expect(Math.max(...tokens)).toBeGreaterThan(2 ** 31)
    for (let guess = 0; guess < 1_000; guess++) heartbeat.onPong(guess)
    expect(heartbeat.rttMs).toBeUndefined()
  })

  describe('on a link that is not used', () => {
    const idle = { maxPingIntervalMs: 10_000 }

    /** A link whose peer answers all pings for so long. */
    function answered(ms: number, options: Parameters<typeof setUp>[0] = idle) {
      const it = setUp(options)
      it.heartbeat.start()
      for (let last = 0; it.clock.monotonicMs() < ms; it.clock.advanceBy(10)) {
        if (it.pings.length > last) it.pong()
        last = it.pings.length
      }
      return it
    }

    it('pings less and less often while all is answered', () => {
      const { pings, deadAtMs } = answered(100_000)
      const pauses = pings.map(({ atMs }, i) => atMs - (pings[i - 1]?.atMs ?? 0)).slice(1)
      expect(pauses[0]).toBeGreaterThan(3_500)
      for (const pause of pauses.slice(1)) {
        expect(pause).toBeGreaterThan(7_000)
        expect(pause).toBeLessThanOrEqual(10_000)
      }
      expect(deadAtMs()).toBeUndefined()
    })

    it('pings with the seconds of the clock, so that all links of a process do at once', () => {
      const { pings } = answered(60_000)
      for (const { atMs } of pings.slice(1)) expect(atMs % 1_000).toBe(0)
    })

    it('pings once at each of them, though timers fire before it', () => {
      const clock = new HastyClock()
      clock.advanceBy(0.4)
      const { pings } = answered(60_000, { clock, pingIntervalMs: 1_000, maxPingIntervalMs: 3_000 })
      const pauses = pings.map(({ atMs }, i) => atMs - (pings[i - 1]?.atMs ?? 0)).slice(2)
      expect(pauses.length).toBeGreaterThan(15)
      for (const pause of pauses) expect(pause).toBeGreaterThan(990)
    })

    it('leaves it to the other end, but for the round-trip time', () => {
      const { clock, pings, heartbeat, pong } = answered(60_000)
      const askedBefore = pings.length
      for (let i = 0; i < 20; i++) {
        clock.advanceBy(5_000)
        heartbeat.heard()
        heartbeat.pinged()
        if (pings.length > askedBefore) pong()
      }
      expect(pings.length - askedBefore).toBeGreaterThanOrEqual(2)
      expect(pings.length - askedBefore).toBeLessThanOrEqual(8)
    })

    it('pings as often as ever once one is not answered, and gives up after as many', () => {
      const { clock, pings, deadAtMs } = answered(60_000)
      const count = pings.length
      clock.advanceBy(60_000)
      const unanswered = pings.slice(count).map(({ atMs }) => atMs)
      expect(unanswered.map((atMs) => atMs - (unanswered[0] ?? 0))).toEqual([0, 3_000, 6_000])
      expect(deadAtMs()).toBe((unanswered[0] ?? 0) + 9_000)
    })

    it('finds out that nobody is there as soon as ever after it is used', () => {
      const { clock, heartbeat, deadAtMs } = answered(60_000)
      const usedMs = clock.monotonicMs()
      heartbeat.used()
      clock.advanceBy(2_000)
      heartbeat.used()
      clock.advanceBy(60_000)
      expect(deadAtMs()).toBeLessThanOrEqual(usedMs + 12_000)
    })

    it('does not put off its pings by being used while one is not answered', () => {
      const { clock, pings, heartbeat, deadAtMs } = answered(60_000)
      const count = pings.length
      while (pings.length === count) clock.advanceBy(1)
      const sentMs = pings.at(-1)?.atMs ?? 0
      for (let i = 0; i < 60; i++) {
        clock.advanceBy(200)
        heartbeat.used()
      }
      expect(deadAtMs()).toBe(sentMs + 9_000)
    })
  })

  it('does not give up a slow link while its backlog moves', () => {
    const { clock, outflow, heartbeat, deadAtMs } = setUp()
    heartbeat.start()
    outflow.queuedBytes = 1_000_000
    for (let i = 0; i < 60; i++) {
      clock.advanceBy(1000)
      outflow.leftBytes += 100
    }
    expect(deadAtMs()).toBeUndefined()
    clock.advanceBy(20_000)
    expect(deadAtMs()).toBeDefined()
  })

  it('stops', () => {
    const { clock, pings, heartbeat } = setUp()
    heartbeat.start()
    heartbeat.stop()
    expect(clock.runUntilIdle()).toBe(true)
    expect(pings.length).toBe(1)
  })
})
