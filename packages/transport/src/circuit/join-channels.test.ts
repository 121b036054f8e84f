import { beforeEach, expect, it } from 'vitest'
import type { Channel } from '../connection/channel.ts'
import { maxWebSocketFrameBytes } from '../ws/ws-options.ts'
import { joinChannels } from './join-channels.ts'

/** Keeps all that is sent until somebody empties it. */
function channelOf() {
  const channel = {
    events: { onFrame: (_: Uint8Array) => {}, onDrain: () => {}, onClose: () => {} },
    bufferedBytes: 0,
    isClosed: false,
    send: ({ length }: Uint8Array) => void (channel.bufferedBytes += length),
    close: () => void (channel.isClosed = true),
  }
  return channel as typeof channel & Channel
}

const maxQueuedBytes = 1_000
let [from, to] = [channelOf(), channelOf()]
beforeEach(() => {
  ;[from, to] = [channelOf(), channelOf()]
  joinChannels(from, to, { maxQueuedBytes, onClose: () => {} })
})

it('a circuit carries the largest frame, one after the other', () => {
  for (let i = 0; i < 2; i++) {
    from.events.onFrame(new Uint8Array(maxWebSocketFrameBytes))
    expect([to.bufferedBytes, to.isClosed]).toEqual([maxWebSocketFrameBytes, false])
    to.bufferedBytes = 0
  }
})

it('a circuit is closed by a frame that comes while too much waits already', () => {
  to.bufferedBytes = maxQueuedBytes
  from.events.onFrame(new Uint8Array(1))
  expect([from.isClosed, to.isClosed]).toEqual([false, false])
  from.events.onFrame(new Uint8Array(1))
  expect([from.isClosed, to.isClosed, to.bufferedBytes]).toEqual([true, true, maxQueuedBytes + 1])
})
