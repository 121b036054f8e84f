import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FrameReader, headerOf } from './frame-reader.ts'

function reading(maxFrameBytes: number): { readonly reader: FrameReader; readonly frames: number[][] } {
  const frames: number[][] = []
  return { reader: new FrameReader(maxFrameBytes, (frame) => frames.push([...frame])), frames }
}

describe('FrameReader', () => {
  it('gives the frames that were put in, wherever the bytes were cut', () => {
    const frame = fc.uint8Array({ maxLength: 20 })
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 9 })),
        (sent, cuts) => {
          const bytes = Buffer.concat(sent.flatMap((one) => [headerOf(one), one]))
          const { reader, frames } = reading(20)
          let at = 0
          for (const size of [...cuts, Infinity]) {
            const chunk = bytes.subarray(at, at + size)
            if (chunk.length > 0) reader.read(chunk)
            at += chunk.length
          }
          expect(frames).toEqual(sent.map((one) => [...one]))
        },
      ),
    )
  })

  it('takes no frame that is too large, from its header on', () => {
    const { reader, frames } = reading(20)
    reader.read(Buffer.concat([headerOf(new Uint8Array(20)), new Uint8Array(20)]))
    expect(frames).toEqual([Array.from({ length: 20 }, () => 0)])
    expect(() => reader.read(headerOf(new Uint8Array(21)))).toThrow(
      expect.objectContaining({ code: 'FRAME_TOO_LARGE' }),
    )
  })
})
