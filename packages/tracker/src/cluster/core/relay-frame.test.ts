import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodeId } from '../../core/tracker-core.testkit.ts'
import { encodeFrame, FrameReader, type RelayFrame } from './relay-frame.ts'

const frames: readonly RelayFrame[] = [
  { type: 'open', nodeId: nodeId(1), hops: 2 },
  { type: 'up', nodeId: nodeId(2), packet: Uint8Array.of(1, 2, 3) },
  { type: 'gone', nodeId: nodeId(3) },
  { type: 'down', nodeId: nodeId(4), packet: new Uint8Array(0) },
  { type: 'closed', nodeId: nodeId(5), code: 'REPLACED', text: 'once more' },
]

describe('frames between trackers', () => {
  it('arrive in whatever pieces', () => {
    const bytes = Uint8Array.from(frames.flatMap((frame) => [...encodeFrame(frame)]))
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), (size) => {
        const reader = new FrameReader({ maxFrameBytes: 1_000 })
        const read: RelayFrame[] = []
        for (let at = 0; at < bytes.length; at += size)
          read.push(...reader.push(bytes.subarray(at, at + size)))
        expect(read).toEqual(frames)
      }),
    )
  })

  it('are refused when they are none, or too large, and with one error only', () => {
    const malformed = expect.objectContaining({ code: 'CLUSTER_FRAME_MALFORMED' })
    expect(() => new FrameReader({ maxFrameBytes: 10 }).push(Uint8Array.of(0, 0, 0, 11))).toThrow(malformed)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (body) => {
        const reader = new FrameReader({ maxFrameBytes: 1_000 })
        try {
          reader.push(Uint8Array.of(0, 0, 0, body.length, ...body))
        } catch (error) {
          expect(error).toEqual(malformed)
        }
      }),
    )
  })
})
