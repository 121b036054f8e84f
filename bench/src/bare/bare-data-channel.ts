import nodeDataChannel, { type DataChannel } from 'node-datachannel'
import { benchError } from '../errors.ts'
import type { BareLink } from './bare-link.ts'

/** A whole description, candidates included: two of these and the ends find each other. */
export interface BareSignal {
  readonly sdp: string
  readonly type: string
}

export interface BareEnd {
  readonly open: Promise<BareLink>
  receive(signal: BareSignal): void
}

/** Where checks and answers cross it takes up to 8 s. */
const openTimeoutMs = 15_000

/** One end of a bare data channel, set up without the DTLS stall: the offer reaches the answerer as `a=setup:active`. */
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
    signal({ type, sdp: type === 'offer' ? sdp.replace('a=setup:actpass', 'a=setup:active') : sdp })
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

/** Runs `open` again when it fails: the library loses a set-up in a few of a thousand, when a check of the other side overtakes its answer. */
export async function withRetries<T>(open: () => Promise<T>, tries = 3): Promise<T> {
  try {
    return await open()
  } catch (error) {
    if (tries <= 1) throw error
    return withRetries(open, tries - 1)
  }
}

/** Two ends in this process. */
export function bareDataChannelPair(): Promise<[BareLink, BareLink]> {
  return withRetries(() => {
    const answerer: BareEnd = bareDataChannel('answer', (signal) =>
      setImmediate(() => offerer.receive(signal)),
    )
    const offerer: BareEnd = bareDataChannel('offer', (signal) =>
      setImmediate(() => answerer.receive(signal)),
    )
    return Promise.all([offerer.open, answerer.open])
  })
}
