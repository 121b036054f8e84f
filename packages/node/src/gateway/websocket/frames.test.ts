import { describe, expect, it } from 'vitest'
import { decodeFrame, encodeBinary } from './frames.ts'

const binary = 'runnel.binary.v1'
const json = 'runnel.json.v1'

describe('frames of a gateway’s WebSocket', () => {
  it('have a header and bytes in the binary subprotocol', () => {
    const content = new Uint8Array([0, 1, 255])
    const frame = decodeFrame(encodeBinary({ op: 'publish', text: 'grüezi' }, content), true, binary)
    expect(frame.header).toEqual({ op: 'publish', text: 'grüezi' })
    expect(new Uint8Array(frame.content ?? [])).toEqual(content)
  })

  it('are JSON in the other', () => {
    expect(decodeFrame(Buffer.from('{"op":1}'), false, json)).toEqual({
      header: { op: 1 },
      content: undefined,
    })
  })

  it.each([
    [Buffer.from('{}'), false, binary, 'no text frames'],
    [Buffer.from('{}'), true, json, 'no binary frames'],
    [Buffer.from('{'), false, json, 'from character 2 on'],
    [Buffer.from([0, 0]), true, binary, 'longer than the frame'],
    [Buffer.from([0xff, 0xff, 0xff, 0xff, 1]), true, binary, 'longer than the frame'],
    [Buffer.from([0, 0, 0, 1, 0x7b]), true, binary, 'no JSON'],
  ] as const)('are not %s', (data, isBinary, protocol, message) =>
    expect(() => decodeFrame(data, isBinary, protocol)).toThrow(message),
  )
})
