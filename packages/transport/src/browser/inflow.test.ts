import { encodePacket, forEachPacket, PacketType } from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Inflow, inflowLimits } from './inflow.ts'

/** Time that work takes, and turns that come when asked for. */
class Turns {
  elapsedMs = 0
  caughtUp = 0
  readonly planned: (() => void)[] = []
  readonly clock = {
    monotonicMs: () => this.elapsedMs,
    endOfTurn: (fn: () => void) => void this.planned.push(fn),
    catchUp: () => void this.caughtUp++,
  }

  /** How long each planned turn took. */
  runAll(): number[] {
    const tookMs: number[] = []
    for (let turn = this.planned.shift(); turn; turn = this.planned.shift()) {
      const beganMs = this.elapsedMs
      turn()
      tookMs.push(this.elapsedMs - beganMs)
    }
    return tookMs
  }
}

const pings = (count: number, from = 0): Uint8Array => {
  const packets = Array.from({ length: count }, (_, i) => encodePacket({ type: 'ping', token: from + i }))
  return Buffer.concat(packets)
}

/** What a reader makes of frames: the tokens of their packets, and whether they went wrong. */
function readerOf(tokens: string[], onPacket = (): void => {}): (frame: Uint8Array) => void {
  return (frame) => {
    try {
      forEachPacket(frame, (type, body) => {
        onPacket()
        tokens.push(`${type}:${Buffer.from(body).toString('hex')}`)
      })
    } catch {
      tokens.push('malformed')
    }
  }
}

describe('the inflow of a page', () => {
  it('hands on at once what is quickly handled', () => {
    const turns = new Turns()
    const inflow = new Inflow({}, turns)
    const frames: Uint8Array[] = []
    const small = pings(3)
    inflow.receive(small, (frame) => frames.push(frame))
    expect(frames).toEqual([small])
    expect(turns.planned).toEqual([])
    // The page may be one whose timers are held back.
    expect(turns.caughtUp).toBe(1)
  })

  it('gives the page a turn in the middle of a frame, and keeps the order of all channels', () => {
    const turns = new Turns()
    const inflow = new Inflow({}, turns)
    const seen: string[] = []
    const slowly = readerOf(seen, () => void (turns.elapsedMs += 0.05))
    const beganMs = turns.elapsedMs
    inflow.receive(pings(2000), slowly)
    expect(turns.elapsedMs - beganMs).toBeGreaterThanOrEqual(inflowLimits.maxTurnMs)
    expect(seen.length).toBeLessThan(2000)
    inflow.receive(pings(10, 2000), slowly)
    inflow.andThen(() => seen.push('closed'))
    expect(turns.planned).toHaveLength(1)
    const tookMs = turns.runAll()
    expect(tookMs.length).toBeGreaterThan(5)
    // A piece has at most 512 bytes and a packet: some ninety of these.
    for (const ms of tookMs) expect(ms).toBeLessThan(inflowLimits.maxTurnMs + 6)
    const expected: string[] = []
    readerOf(expected)(pings(2010))
    expect(seen).toEqual([...expected, 'closed'])
  })

  it('holds up the page, and drops nothing, rather than let more than its limit wait', () => {
    const turns = new Turns()
    const maxWaitingBytes = 5000
    const inflow = new Inflow({ maxWaitingBytes }, turns)
    const seen: string[] = []
    const slowly = readerOf(seen, () => void (turns.elapsedMs += 1))
    let arrivedBytes = 0
    for (let i = 0; i < 100; i++) {
      const frame = pings(100, 100 * i)
      arrivedBytes += frame.length
      inflow.receive(frame, slowly)
      const handledBytes = seen.length * (frame.length / 100)
      expect(arrivedBytes - handledBytes).toBeLessThanOrEqual(maxWaitingBytes)
    }
    expect(seen.length).toBeGreaterThan(9000)
    turns.runAll()
    expect(seen).toHaveLength(10_000)
  })

  it('has the same packets, and the same fault, in the pieces as in the frame', () => {
    const packet = fc.record({ type: fc.constant(PacketType.ping), length: fc.integer({ min: 0, max: 300 }) })
    const tail = fc.uint8Array({ maxLength: 4 })
    fc.assert(
      fc.property(fc.array(packet, { maxLength: 40 }), tail, (packets, tail) => {
        const parts = packets.map(({ type, length }) => {
          const header = length < 0x80 ? [type, length] : [type, (length & 0x7f) | 0x80, length >>> 7]
          return Uint8Array.from([...header, ...new Uint8Array(length)])
        })
        const frame = Buffer.concat([...parts, tail])
        const [whole, pieces]: [string[], string[]] = [[], []]
        readerOf(whole)(frame)
        const turns = new Turns()
        new Inflow({ maxTurnMs: 0 }, turns).receive(frame, readerOf(pieces))
        turns.runAll()
        expect(pieces).toEqual(whole)
      }),
    )
  })
})
