import { describe, expect, it } from 'vitest'
import { StunStream, toStream } from './stun-stream.ts'

/** A STUN message with so much content, which is a multiple of four. */
function stun(content: number): Buffer {
  const message = Buffer.alloc(20 + content, 7)
  message.writeUInt16BE(0x0001, 0)
  message.writeUInt16BE(content, 2)
  return message
}

function channelData(content: number): Buffer {
  const message = Buffer.alloc(4 + content, 9)
  message.writeUInt16BE(0x4001, 0)
  message.writeUInt16BE(content, 2)
  return message
}

describe('datagrams in a stream', () => {
  const datagrams = [
    stun(0),
    channelData(1),
    stun(8),
    channelData(4),
    channelData(1_200),
    channelData(0),
    stun(64),
  ]
  const stream = Buffer.concat(datagrams.map(toStream))

  it.each([1, 3, 7, 1_000, 100_000])('are found again, read %i bytes at a time', (size) => {
    const reader = new StunStream()
    const found: Buffer[] = []
    for (let at = 0; at < stream.length; at += size)
      found.push(...reader.read(stream.subarray(at, at + size)))
    expect(found).toEqual(datagrams)
  })

  it('begin at multiples of four', () => {
    for (const datagram of datagrams) expect(toStream(datagram).length % 4).toBe(0)
  })
})
