/** What a full status says of a link: its transport, and whether a TURN server relays it. */
export interface ReportedTransport {
  readonly kind: string
  readonly relayed: boolean
}

/** By number, from 1; they never change. 0, and a number that is not here, is a transport that has none. */
const transports: readonly ReportedTransport[] = [
  { kind: 'websocket', relayed: false },
  { kind: 'webrtc', relayed: false },
  { kind: 'webrtc', relayed: true },
  { kind: 'tcp', relayed: false },
  { kind: 'circuit', relayed: false },
]

/** The number of a transport in a full status; 0 where it has none. */
export function transportCode(transport: ReportedTransport): number {
  return (
    1 + transports.findIndex(({ kind, relayed }) => kind === transport.kind && relayed === transport.relayed)
  )
}

/** The transport of a number; undefined for 0, and for one of a later version. */
export function transportOfCode(code: number): ReportedTransport | undefined {
  return transports[code - 1]
}
