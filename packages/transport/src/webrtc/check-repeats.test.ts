import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../memory/virtual-clock.ts'
import { maxRepeatedChecks, maxRepeats, repeatingChecks, repeatMs } from './check-repeats.ts'
import type { TurnLegEvents } from './turn-leg.ts'

/** A STUN message of a kind, with a number in it. */
function stun(kind: number, number: number): Buffer {
  const message = Buffer.alloc(24, number)
  message.writeUInt16BE(kind, 0)
  message.writeUInt16BE(4, 2)
  return message
}

const check = (number: number) => stun(0x0016, number)
const fromOtherEnd = stun(0x0017, 0)
const [allocate, allocated, permitted] = [stun(0x0003, 0), stun(0x0103, 0), stun(0x0108, 0)]
/** Longer than all repeats together. */
const longMs = 10 * repeatMs * maxRepeats

function leg() {
  const clock = new VirtualClock()
  const sent: Uint8Array[] = []
  const passed: Uint8Array[] = []
  let server: TurnLegEvents | undefined
  const repeating = repeatingChecks(
    {
      schedule: (ms, action) => clock.schedule(ms, action),
      open(events) {
        server = events
        return { send: (datagram) => sent.push(datagram), close: () => events.onClose() }
      },
    },
    { onDatagram: (datagram) => passed.push(datagram), onClose: () => passed.push(Buffer.from('closed')) },
  )
  return { clock, sent, passed, repeating, says: (datagram: Uint8Array) => server?.onDatagram(datagram) }
}

describe('checks through a relay', () => {
  it('are repeated, unchanged and at the same distance, a few times', () => {
    const { clock, sent, repeating } = leg()
    repeating.send(check(1))
    expect(sent).toEqual([check(1)])
    clock.advanceBy(repeatMs)
    expect(sent).toHaveLength(2)
    clock.advanceBy(longMs)
    expect(sent).toEqual(Array.from({ length: 1 + maxRepeats }, () => check(1)))
  })

  it('are repeated until something comes from the other end, and not from the server', () => {
    const { clock, sent, passed, repeating, says } = leg()
    repeating.send(check(1))
    says(permitted)
    clock.advanceBy(repeatMs)
    expect(sent).toHaveLength(2)
    says(fromOtherEnd)
    repeating.send(check(2))
    clock.advanceBy(longMs)
    expect(sent).toEqual([check(1), check(1), check(2)])
    expect(passed).toEqual([permitted, fromOtherEnd])
  })

  it('are alone in that: what is for the server goes once', () => {
    const { clock, sent, repeating, says } = leg()
    repeating.send(allocate)
    says(allocated)
    repeating.send(Buffer.alloc(0))
    clock.advanceBy(longMs)
    expect(sent).toEqual([allocate, Buffer.alloc(0)])
  })

  it('are repeated up to so many', () => {
    const { clock, sent, repeating } = leg()
    for (let n = 0; n < 100; n++) repeating.send(check(n))
    clock.advanceBy(longMs)
    expect(sent).toHaveLength(100 + maxRepeatedChecks * maxRepeats)
  })

  it('are not repeated once the leg is closed', () => {
    const { clock, sent, passed, repeating } = leg()
    repeating.send(check(1))
    repeating.close()
    clock.advanceBy(longMs)
    expect(sent).toEqual([check(1)])
    expect(passed).toEqual([Buffer.from('closed')])
  })
})
