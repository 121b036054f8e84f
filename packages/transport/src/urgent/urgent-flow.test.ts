import {
  Alarm,
  decodePacket,
  limits,
  PacketType,
  readPackets,
  readUrgentParts,
  seededRandom,
  type Mark,
  type Piece,
  type UrgentMessage,
} from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import type { Channel, DatagramLane } from '../connection/channel.ts'
import { newStats } from '../connection/stats.ts'
import { VirtualClock } from '../memory/virtual-clock.ts'
import { ArrivalLog } from './arrival-log.ts'
import { urgentLimits } from './limits.ts'
import { UrgentFlow } from './urgent-flow.ts'

/**
 * A flow over a channel that is written down. The other end is a flow as well, at half of `rttMs`, which hears of each frame, and only of
 * that, or never.
 */
function setUp({
  hasLane = false,
  rttMs = 20,
  isLost = () => false,
}: {
  hasLane?: boolean
  rttMs?: number | 'never'
  isLost?: (number: number, body: Uint8Array) => boolean
} = {}) {
  const clock = new VirtualClock()
  const sent: { readonly by: 'channel' | 'lane'; readonly type: number; readonly body: Uint8Array }[] = []
  const dropped: string[] = []
  const state = { opened: 0, isOpen: false, bufferedBytes: 0, flushed: 0, rates: 0, repeated: 0, tookMs: 0 }
  const arrivals = new ArrivalLog()
  const report = new Alarm({ onDue: () => send() }, { clock })
  const send = (): void => {
    const packet = arrivals.take(clock.monotonicMs())
    if (rttMs !== 'never') clock.schedule(rttMs / 2 + state.tookMs, () => flow.onArrivals(packet))
  }
  const note = (by: 'channel' | 'lane', frame: Uint8Array): void => {
    const packets = readPackets(frame)
    for (const { type, body } of packets) {
      if (type === PacketType.mark) {
        const { number } = decodePacket(type, body) as Mark
        if (rttMs === 'never' || isLost(number, packets.at(-1)?.body ?? body)) continue
        clock.schedule(rttMs / 2, () => {
          arrivals.add(number, clock.monotonicMs())
          report.set(arrivals.dueMs)
        })
      } else if (type !== PacketType.ping) sent.push({ by, type, body })
      else if (rttMs !== 'never') {
        const { token } = decodePacket(type, body) as { token: number }
        clock.schedule(rttMs, () => flow.answered(token))
      }
    }
  }
  const lane: DatagramLane = {
    get isOpen() {
      return state.isOpen
    },
    bufferedBytes: 0,
    onFrame: () => {},
    open: () => void state.opened++,
    send: (frame) => note('lane', frame),
  }
  const channel = {
    maxFrameBytes: 16 * 1024,
    get bufferedBytes() {
      return state.bufferedBytes
    },
    datagrams: hasLane ? lane : undefined,
  } as unknown as Channel
  const flow: UrgentFlow = new UrgentFlow(channel, urgentLimits, {
    ...{ clock, random: seededRandom('flow'), stats: newStats() },
    rttMs: () => (rttMs === 'never' ? undefined : rttMs),
    hand: (frame) => note('channel', frame),
    mayAnswer: () => true,
    flushOthers: () => void state.flushed++,
    deliver: () => expect.fail('nothing comes here'),
    dropped: (why) => dropped.push(why),
    repeated: () => void state.repeated++,
    rateChanged: () => void state.rates++,
  })
  const offer = (fields: Partial<UrgentMessage> = {}, bytes = 100, lifetimeMs = 300): void =>
    flow.offer({
      ...{ batchBytes: new Uint8Array(bytes).fill(fields.priority ?? 9), headerBytes: 0 },
      ...{ publisher: 'p', chain: 'c' },
      ...{ deadlineMs: clock.monotonicMs() + lifetimeMs, priority: 9, group: 0, object: 0, order: 'oldest' },
      ...fields,
    })
  return { clock, flow, sent, dropped, state, offer }
}

describe('UrgentFlow', () => {
  it('subtracts the time that a message waited, and half of the round trip', () => {
    const { clock, sent, state, offer } = setUp()
    offer()
    state.bufferedBytes = urgentLimits.maxUrgentBufferBytes
    offer({ group: 1 })
    expect(sent.length).toBe(1)
    clock.advanceBy(50)
    state.bufferedBytes = 0
    clock.advanceBy(5)
    // Varints of two bytes: 290 and 235.
    expect(sent.map(({ body }) => (body[0] ?? 0) - 128 + 128 * (body[1] ?? 0))).toEqual([290, 235])
  })

  it('drops what would arrive too late', () => {
    const { sent, dropped, offer } = setUp({ rttMs: 40 })
    offer({}, 100, 20)
    offer({}, 100, 21)
    expect([sent.length, dropped]).toEqual([1, ['late']])
  })

  it('drops nothing as late because this process takes long to take reports', () => {
    const { clock, dropped, state, offer } = setUp()
    for (let i = 0; i < 200; i++) {
      state.tookMs = i < 50 ? 0 : 900
      offer({ group: i })
      clock.advanceBy(20)
    }
    expect(dropped).toEqual([])
  })

  it('goes on where the first report took so long that all seemed late', () => {
    const { clock, sent, state, offer } = setUp()
    state.tookMs = 5_000
    for (let i = 0; i < 500; i++) {
      offer({ group: i })
      clock.advanceBy(20)
    }
    expect(sent.length).toBe(500)
  })

  it('opens the lane with the first message, and uses the channel until it is open', () => {
    const { sent, state, offer } = setUp({ hasLane: true })
    expect(state.opened).toBe(0)
    offer()
    expect([state.opened, sent[0]?.by]).toEqual([1, 'channel'])
    state.isOpen = true
    offer({ group: 1 })
    expect(sent[1]?.by).toBe('lane')
  })

  it('sends large ones in pieces, between which others come, and no more than is answered', () => {
    const { clock, sent, offer } = setUp()
    offer({}, 100_000, 10_000)
    const before = sent.length
    expect(before).toBeLessThan(20)
    offer({ priority: 1, chain: 'd' }, 100, 10_000)
    clock.advanceBy(5_000)
    const types = sent.map(({ type }) => type)
    expect(types.indexOf(PacketType.urgent)).toBe(before)
    const pieces = sent
      .filter(({ type }) => type === PacketType.piece)
      .map(({ type, body }) => decodePacket(type, body) as Piece)
    expect(pieces.map(({ index }) => index)).toEqual(Array.from({ length: limits.maxPieces }, (_, i) => i))
    expect(new Set(pieces.map(({ object, count }) => `${object} ${count}`)).size).toBe(1)
    expect(pieces.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBe(100_000)
  })

  it('goes on by a lane on which every answer is lost', () => {
    const { clock, flow, sent, state, offer } = setUp({ hasLane: true, rttMs: 'never' })
    state.isOpen = true
    offer({}, 100_000, 60_000)
    clock.advanceBy(30_000)
    expect(sent.filter(({ type }) => type === PacketType.piece).length).toBe(limits.maxPieces)
    expect(flow.kbitPerSOf('p')).toBe(urgentLimits.minKbitPerS)
  })

  it('sends again what a lane loses, with the time that is left, before what comes later', () => {
    const { clock, sent, state, offer } = setUp({ hasLane: true, isLost: (number) => number === 2 })
    state.isOpen = true
    for (let object = 0; object < 4; object++) {
      offer({ object, batchBytes: Uint8Array.of(1, 2, object) })
      clock.advanceBy(15)
    }
    clock.advanceBy(300)
    const objects = sent.map(({ body }) => body.at(-1))
    expect(objects).toEqual([0, 1, 2, 3, 1].slice(0, objects.length))
    expect(objects.length).toBe(5)
    const remainingMs = sent.map(({ body }) => readUrgentParts(body).remainingMs)
    expect(remainingMs[1]).toBe(290)
    expect(remainingMs[4]).toBeLessThan(270)
    expect(remainingMs[4]).toBeGreaterThan(200)
    expect(state.repeated).toBe(1)
  })

  it('sends a lost piece again as what it was', () => {
    const { clock, sent, state, offer } = setUp({ hasLane: true, isLost: (number) => number === 3 })
    state.isOpen = true
    offer({}, 30_000, 10_000)
    clock.advanceBy(5_000)
    const pieces = sent.map(({ type, body }) => decodePacket(type, body) as Piece)
    const count = pieces[0]?.count ?? 0
    expect(pieces.map(({ index }) => index).sort((a, b) => a - b)).toEqual(
      [2, ...Array.from({ length: count }, (_, i) => i)].sort((a, b) => a - b),
    )
    expect(new Set(pieces.map(({ object }) => object)).size).toBe(1)
    const [first, again] = pieces.filter(({ index }) => index === 2)
    expect(again?.bytes).toEqual(first?.bytes)
    expect(again?.remainingMs).toBeLessThan(first?.remainingMs ?? 0)
  })

  it('sends each three times more at most, and nothing when its time is over', () => {
    const sentOf = (lifetimeMs: number): number => {
      const isLost = (_: number, body: Uint8Array): boolean => body.at(-1) === 0
      const { clock, sent, state, offer } = setUp({ hasLane: true, rttMs: 100, isLost })
      state.isOpen = true
      for (let object = 0; object < 100; object++) {
        offer({ object, batchBytes: Uint8Array.of(1, 2, object) }, 0, lifetimeMs)
        clock.advanceBy(20)
      }
      return sent.filter(({ body }) => body.at(-1) === 0).length
    }
    expect([120, 300, 60_000].map(sentOf)).toEqual([1, 2, 4])
  })

  it('lets others send without a bound but while there are urgent messages', () => {
    const { clock, flow, state, offer } = setUp({ rttMs: 'never' })
    expect([flow.isActive, flow.roomForOthers]).toEqual([false, Infinity])
    offer()
    expect(flow.roomForOthers).toBeGreaterThan(0)
    flow.othersSent(1_000_000)
    expect(flow.roomForOthers).toBe(0)
    const before = state.flushed
    clock.advanceBy(urgentLimits.yieldMs)
    expect([flow.isActive, flow.roomForOthers, state.flushed > before]).toEqual([false, Infinity, true])
  })

  it('sends nothing after it is stopped', () => {
    const { clock, flow, sent, offer } = setUp()
    flow.stop()
    offer()
    clock.advanceBy(5_000)
    expect(sent).toEqual([])
  })
})
