import type { Stream } from '@libp2p/interface'
import { maxPacketBytes } from '@runnel/protocol'
import { headerOf } from '@runnel/transport'
import { expect, it } from 'vitest'
import { StreamChannel } from './stream-channel.ts'

const sealBytes = 16
const maxFrameBytes = 1_000

class TestStream extends EventTarget {
  maxWriteBufferLength = 0
  aborted = false
  readonly abort = () => void (this.aborted = true)
}

/** What is read of a frame of so many bytes. */
function read(length: number) {
  const stream = new TestStream()
  const channel = new StreamChannel(stream as unknown as Stream, { maxFrameBytes })
  const lengths: number[] = []
  channel.events = { onFrame: (frame) => void lengths.push(frame.length), onDrain() {}, onClose() {} }
  const frame = new Uint8Array(length)
  const data = Buffer.concat([headerOf(frame), frame])
  stream.dispatchEvent(Object.assign(new Event('message'), { data }))
  return { stream, lengths }
}

it('a circuit between trackers takes frames as large as links have them, whatever may wait, and no larger', () => {
  const largest = maxPacketBytes + sealBytes
  const { lengths, stream } = read(largest)
  expect([lengths, stream.aborted]).toEqual([[largest], false])
  // One of them may wait beyond the limit on what waits.
  expect(stream.maxWriteBufferLength).toBeGreaterThan(maxFrameBytes + largest)
  const beyond = read(largest + 1)
  expect([beyond.lengths, beyond.stream.aborted]).toEqual([[], true])
})

it('a circuit that has closed before anybody asked to be told of it tells that too, once', async () => {
  const stream = new TestStream()
  const channel = new StreamChannel(stream as unknown as Stream, { maxFrameBytes })
  stream.dispatchEvent(new Event('close'))
  let gone = 0
  channel.onGone = () => void gone++
  await Promise.resolve()
  expect(gone).toBe(1)
})
