/** What a full status says of a link: its transport, and whether a TURN server relays it. */
export interface ReportedTransport {
  readonly kind: string
  readonly relayed: boolean
}

const overTurn = '+turn'

/** By number; they never change. 0, and a number that is not here, is a transport that has none. */
const transports = ['', 'websocket', 'webrtc', `webrtc${overTurn}`, 'tcp', 'circuit']

/** The number of a transport in a full status; 0 where it has none. */
export function transportCode({ kind, relayed }: ReportedTransport): number {
  return Math.max(0, transports.indexOf(relayed ? kind + overTurn : kind))
}

/** The transport of a number; undefined for 0, and for one of a later version. */
export function transportOfCode(code: number): ReportedTransport | undefined {
  const transport = transports[code]
  if (!transport) return undefined
  return { kind: transport.replace(overTurn, ''), relayed: transport.endsWith(overTurn) }
}
