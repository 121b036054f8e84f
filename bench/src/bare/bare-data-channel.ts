import nodeDataChannel, { type DataChannel } from 'node-datachannel'
import { benchError } from '../errors.ts'
import type { BareLink } from './bare-link.ts'

/** A description: two of these and the ends find each other. */
export interface BareSignal {
  readonly sdp: string
  readonly type: string
}

export interface BareEnd {
  readonly open: Promise<BareLink>
  receive(signal: BareSignal): void
}

const openTimeoutMs = 15_000

/**
 * One end of a bare data channel, set up without the DTLS stall: the offer reaches the answerer as `a=setup:active`, and without
 * addresses. The answerer sees them when the offerer checks. If it could check first, the offerer would have a path within the
 * call that takes the answer, and DTLS would end before that call has stored the answer's fingerprint: one set-up in 17 failed
 * on a busy machine.
 */
export function bareDataChannel(role: 'offer' | 'answer', signal: (signal: BareSignal) => void): BareEnd {
  const peer = new nodeDataChannel.PeerConnection('bench', { iceServers: [] })
  const opened = Promise.withResolvers<BareLink>()
  const link = (channel: DataChannel): BareLink => {
    const end: BareLink = {
      onMessage: () => {},
      send: (message) => void channel.sendMessageBinary(message),
      buffered: () => channel.bufferedAmount(),
      close: () => {
        channel.close()
        peer.close()
      },
    }
    channel.onMessage((data) => end.onMessage(data as Buffer))
    return end
  }
  peer.onGatheringStateChange((state) => {
    const description = state === 'complete' ? peer.localDescription() : undefined
    if (!description) return
    const { sdp, type } = description
    signal({ type, sdp: type === 'offer' ? asSeenByAnswerer(sdp) : sdp })
  })
  // A set-up that the library has lost may never end in another way.
  const limit = setTimeout(
    () => opened.reject(benchError('TOO_SLOW', `no data channel within ${openTimeoutMs} ms`)),
    openTimeoutMs,
  )
  opened.promise.then(
    () => clearTimeout(limit),
    () => peer.close(),
  )
  if (role === 'offer') {
    const channel = peer.createDataChannel('bench')
    const end = link(channel)
    channel.onOpen(() => opened.resolve(end))
  } else {
    peer.onDataChannel((channel) => opened.resolve(link(channel)))
  }
  return {
    open: opened.promise,
    receive: ({ sdp, type }) => {
      try {
        peer.setRemoteDescription(sdp, type as Parameters<typeof peer.setRemoteDescription>[1])
      } catch (error) {
        opened.reject(error)
      }
    },
  }
}

const asSeenByAnswerer = (offer: string): string =>
  offer.replace('a=setup:actpass', 'a=setup:active').replace(/^a=(candidate:.*|end-of-candidates)\r?\n/gm, '')

/** Two ends in this process. */
export function bareDataChannelPair(): Promise<[BareLink, BareLink]> {
  const answerer: BareEnd = bareDataChannel('answer', (signal) => setImmediate(() => offerer.receive(signal)))
  const offerer: BareEnd = bareDataChannel('offer', (signal) => setImmediate(() => answerer.receive(signal)))
  return Promise.all([offerer.open, answerer.open])
}
