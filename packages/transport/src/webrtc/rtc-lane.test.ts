import { describe, expect, it } from 'vitest'
import type { DataChannelPort } from './peer-connection-port.ts'
import { RtcLane } from './rtc-lane.ts'

function fakeChannel(): DataChannelPort & { readonly sent: Uint8Array[]; isBroken: boolean } {
  const channel = {
    ...{ bufferedBytes: 7, isBroken: false, sent: [] as Uint8Array[] },
    events: { onMessage() {}, onText() {}, onLow() {}, onClose() {} },
    send: (message: Uint8Array) => {
      if (channel.isBroken) throw new Error('it is closed')
      channel.sent.push(message)
    },
  }
  return channel
}

const bytes = Uint8Array.of(1)

describe('RtcLane', () => {
  it('asks for a channel once, and for none where the other side opened one', () => {
    let asked = 0
    const openLane = (): void => void asked++
    const lane = new RtcLane('urgent', { openLane })
    lane.open()
    lane.open()
    expect([asked, lane.isOpen, lane.bufferedBytes]).toEqual([1, false, 0])
    const other = new RtcLane('urgent', { openLane })
    other.add(fakeChannel())
    other.open()
    expect([asked, other.isOpen, other.bufferedBytes]).toEqual([1, true, 7])
  })

  it('sends by the first channel, hears both, and goes on with the other when one breaks', () => {
    const lane = new RtcLane('lossy', { openLane: () => undefined })
    const heard: number[] = []
    lane.onFrame = ([byte]) => heard.push(byte ?? 0)
    const [own, other] = [fakeChannel(), fakeChannel()]
    for (const channel of [own, other]) lane.add(channel)
    own.events.onMessage(Uint8Array.of(1))
    other.events.onMessage(Uint8Array.of(2))
    expect(heard).toEqual([1, 2])
    lane.send(bytes)
    own.isBroken = true
    lane.send(bytes)
    lane.send(bytes)
    expect([own.sent.length, other.sent.length]).toEqual([1, 1])
    other.events.onClose()
    lane.send(bytes)
    expect([lane.isOpen, other.sent.length]).toEqual([false, 1])
  })

  it('neither sends nor hears after it is closed', () => {
    const lane = new RtcLane('lossy', { openLane: () => undefined })
    const channel = fakeChannel()
    lane.add(channel)
    lane.onFrame = () => expect.fail('it is closed')
    lane.close()
    channel.events.onMessage(bytes)
    lane.send(bytes)
    expect([lane.isOpen, channel.sent.length]).toEqual([false, 0])
  })
})
