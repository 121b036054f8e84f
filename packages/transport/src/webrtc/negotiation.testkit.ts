import type { Clock, RunnelError, SignalKind } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'

import { Negotiation, type NegotiationModules } from './negotiation.ts'
import { createPeerConnection } from './node-peer-connection.ts'
import type { CreatePeerConnection } from './peer-connection-port.ts'
import type { RtcChannel } from './rtc-channel.ts'

export interface Side {
  readonly negotiation: Negotiation
  /** Rejects when the negotiation fails. */
  readonly channel: Promise<RtcChannel>
  isOpen: boolean
  /** Of the other side, where its description carried one. */
  hello: Uint8Array | undefined
  dropped: number
}

export interface SideOptions {
  readonly clock?: Clock
  readonly createPeerConnection?: CreatePeerConnection
  readonly maxCandidates?: number
  readonly signalDelayMs?: number
  readonly hello?: () => Uint8Array
}

/** One side of a negotiation; what it sends goes to `send`. */
export function negotiationSide(
  send: (kind: SignalKind, payload: string) => boolean,
  options: SideOptions = {},
): Side {
  // Nobody reads it: there is no handshake. Those of two sides differ.
  const hello = crypto.getRandomValues(new Uint8Array(8))
  let resolve: (channel: RtcChannel) => void = () => {}
  let reject: (error: RunnelError) => void = () => {}
  const channel = new Promise<RtcChannel>((yes, no) => ([resolve, reject] = [yes, no]))
  channel.catch(() => {})
  const modules: NegotiationModules = {
    clock: options.clock ?? systemClock,
    createPeerConnection: options.createPeerConnection ?? createPeerConnection,
    hello: options.hello ?? (() => hello),
    send,
    onCandidateDropped: () => side.dropped++,
    onChannel(opened, hello) {
      side.isOpen = true
      side.hello = hello
      resolve(opened)
    },
    onFail: reject,
  }
  const side: Side = {
    negotiation: new Negotiation(
      {
        peerConnection: { iceServers: [], iceTransportPolicy: 'all' },
        maxCandidates: options.maxCandidates ?? 64,
        signalDelayMs: options.signalDelayMs,
      },
      modules,
    ),
    channel,
    isOpen: false,
    hello: undefined,
    dropped: 0,
  }
  return side
}

export type Alter = (kind: SignalKind, payload: string) => readonly (readonly [SignalKind, string])[]

/** Two sides whose signals reach each other in later turns, as changed by `alter`. */
export function negotiationPair(
  alter: Alter = (kind, payload) => [[kind, payload]],
  options: SideOptions = {},
): [Side, Side] {
  const deliver = (to: () => Side) => (kind: SignalKind, payload: string) => {
    for (const [alteredKind, alteredPayload] of alter(kind, payload)) {
      setImmediate(() => {
        if (alteredKind === 'offer') to().negotiation.accept(alteredPayload)
        else to().negotiation.handle(alteredKind, alteredPayload)
      })
    }
    return true
  }
  const a: Side = negotiationSide(
    deliver(() => b),
    options,
  )
  const b: Side = negotiationSide(
    deliver(() => a),
    options,
  )
  return [a, b]
}
