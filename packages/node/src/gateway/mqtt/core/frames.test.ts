import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Frames } from './frames.ts'
import { Reason } from './reasons.ts'

function frameOf(bytes: number): Buffer {
  const length: number[] = []
  for (let rest = bytes; ; rest = Math.floor(rest / 128)) {
    length.push(rest >= 128 ? (rest % 128) + 128 : rest)
    if (rest < 128) return Buffer.concat([Buffer.from([0x30, ...length]), Buffer.alloc(bytes, bytes)])
  }
}

it('cuts packets, however they arrive', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 }),
      (sizes, pieces) => {
        const sent = sizes.map(frameOf)
        const stream = Buffer.concat(sent)
        const frames = new Frames(1_000)
        const cut: Buffer[] = []
        for (let at = 0, i = 0; at < stream.length; i++) {
          const end = at + (pieces[i % pieces.length] ?? 1)
          cut.push(...frames.push(stream.subarray(at, end)))
          at = end
        }
        expect(cut).toEqual(sent)
      },
    ),
  )
})

it('refuses a packet that is too long by its length, and a length that does not end', () => {
  const frames = new Frames(100)
  const thrown = (reason: number) => expect.objectContaining({ reason }) as Error
  expect(() => frames.push(frameOf(99).subarray(0, 2))).toThrow(thrown(Reason.packetTooLarge))
  const endless = Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0x01])
  expect(() => new Frames(100).push(endless)).toThrow(thrown(Reason.malformed))
})

it('has a bound of its own for the first packet', () => {
  const thrown = expect.objectContaining({ reason: Reason.packetTooLarge }) as Error
  expect(() => new Frames(1_000, 100).push(frameOf(99).subarray(0, 2))).toThrow(thrown)
  const frames = new Frames(1_000, 100)
  expect(frames.push(Buffer.concat([frameOf(90), frameOf(900)]))).toEqual([frameOf(90), frameOf(900)])
})
