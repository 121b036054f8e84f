import nodeDataChannel, { type DataChannel } from 'node-datachannel'
import type { BareLink } from './bare-link.ts'

/** What the two ends of a data channel tell each other while they find each other. */
export type BareSignal =
  | { readonly kind: 'description'; readonly sdp: string; readonly type: string }
  | { readonly kind: 'candidate'; readonly candidate: string; readonly mid: string }

export interface BareEnd {
  readonly open: Promise<BareLink>
  receive(signal: BareSignal): void
}

/** One end of a bare data channel, set up without the DTLS stall: the offer reaches the answerer as `a=setup:active`. */
export function bareDataChannel(role: 'offer' | 'answer', signal: (signal: BareSignal) => void): BareEnd {
  const peer = new nodeDataChannel.PeerConnection('bench', { iceServers: [] })
  const opened = Promise.withResolvers<BareLink>()
  const early: BareSignal[] = []
  let described = false
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
  peer.onLocalDescription((sdp, type) =>
    signal({
      kind: 'description',
      type,
      sdp: type === 'offer' ? sdp.replace('a=setup:actpass', 'a=setup:active') : sdp,
    }),
  )
  peer.onLocalCandidate((candidate, mid) => signal({ kind: 'candidate', candidate, mid }))
  if (role === 'offer') {
    const channel = peer.createDataChannel('bench')
    const end = link(channel)
    channel.onOpen(() => opened.resolve(end))
  } else {
    peer.onDataChannel((channel) => opened.resolve(link(channel)))
  }
  const apply = (message: BareSignal) => {
    if (message.kind === 'candidate') return peer.addRemoteCandidate(message.candidate, message.mid)
    peer.setRemoteDescription(message.sdp, message.type as Parameters<typeof peer.setRemoteDescription>[1])
    described = true
    for (const waiting of early.splice(0)) apply(waiting)
  }
  return {
    open: opened.promise,
    receive: (message) => {
      if (message.kind === 'candidate' && !described) early.push(message)
      else apply(message)
    },
  }
}

/** Two ends in this process. */
export async function bareDataChannelPair(): Promise<[BareLink, BareLink]> {
  const answerer: BareEnd = bareDataChannel('answer', (signal) => setImmediate(() => offerer.receive(signal)))
  const offerer: BareEnd = bareDataChannel('offer', (signal) => setImmediate(() => answerer.receive(signal)))
  return Promise.all([offerer.open, answerer.open])
}
