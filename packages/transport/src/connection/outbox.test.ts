import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Outbox } from './outbox.ts'

describe('Outbox', () => {
  it('gives a lone packet as it is, so that neighbours can share it', () => {
    const outbox = new Outbox()
    const packet = new Uint8Array(10)
    outbox.push(packet)
    expect(outbox.takeFrame(100)).toBe(packet)
    expect(outbox.takeFrame(100)).toBeUndefined()
  })

  it('keeps order and bytes, fills frames, and goes over the frame size only for a single packet', () => {
    const packets = fc.array(fc.uint8Array({ minLength: 1, maxLength: 50 }), { maxLength: 60 })
    fc.assert(
      fc.property(
        packets,
        fc.integer({ min: 1, max: 80 }),
        fc.integer({ min: 1, max: 7 }),
        (all, maxBytes, step) => {
          const outbox = new Outbox()
          const out: number[] = []
          for (const [i, packet] of all.entries()) {
            outbox.push(packet)
            if (i % step === 0) out.push(...(outbox.takeFrame(maxBytes) ?? []))
          }
          for (let frame = outbox.takeFrame(maxBytes); frame; frame = outbox.takeFrame(maxBytes)) {
            if (frame.length > maxBytes) expect(all.some(({ length }) => length === frame?.length)).toBe(true)
            out.push(...frame)
          }
          expect(out).toEqual(all.flatMap((packet) => [...packet]))
          expect(outbox.bytes).toBe(0)
        },
      ),
    )
  })
})
