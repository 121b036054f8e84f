/// <reference lib="dom" />
import { describe, expect, it } from 'vitest'
import { EventGuard } from '../webrtc/event-guard.ts'
import { BrowserDataChannel } from './data-channel.ts'

/** What a browser says of a channel, in an order that no test can make it take. */
function setUp(readyState: RTCDataChannelState) {
  const native = { readyState, bufferedAmount: 0 } as unknown as RTCDataChannel
  const ends: string[] = []
  const guard = new EventGuard({ close: () => ends.push('closed'), onClose: (text) => ends.push(text) })
  const channel = new BrowserDataChannel(native, guard.run)
  channel.events = { ...channel.events, onClose: () => guard.fail('too much') }
  const received: number[] = []
  const open = (): void =>
    channel.whenOpen(() => {
      channel.events = { ...channel.events, onMessage: (message) => received.push(...message) }
    })
  const tell = {
    open: (): unknown => native.onopen?.(new Event('open')),
    message: (value: number): unknown =>
      native.onmessage?.(new MessageEvent('message', { data: new Uint8Array([value]).buffer })),
  }
  return { tell, open, received, ends }
}

describe('a data channel of the browser', () => {
  it('keeps what comes before it says that it is open', () => {
    const { tell, open, received } = setUp('connecting')
    open()
    tell.message(1)
    tell.message(2)
    expect(received).toEqual([])
    tell.open()
    tell.message(3)
    expect(received).toEqual([1, 2, 3])
  })

  it('needs no word of it when it is open already', () => {
    const { tell, open, received } = setUp('open')
    open()
    tell.message(1)
    expect(received).toEqual([1])
  })

  it('ends when too much comes before', () => {
    const { tell, open, ends } = setUp('connecting')
    open()
    for (let i = 0; i <= 16; i++) tell.message(i)
    expect(ends).toEqual(['closed', 'too much'])
  })
})
