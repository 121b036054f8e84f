import { isRunnelError, type NodeId, type RunnelError } from '@runnel/protocol'
import type { ConnectionLimits } from '../connection/limits.ts'
import type { Connection, Transport } from '../ports.ts'
import { Recorder } from './recorder.testkit.ts'

/** A started transport and how to dial it. */
export interface Station {
  readonly nodeId: NodeId
  readonly transport: Transport
  /** The URL to dial; undefined where the id is enough. */
  readonly url?: string
}

/** Faults between the stations, for transports that can simulate them. */
export interface PairFaults {
  /** Nothing passes between a and b any more, in either direction, and neither is told. */
  silence(): void
  /** b stops reading from a, or resumes. */
  stallB(stalled: boolean): void
  /** Breaks every link between a and b at once. */
  cut(): void
  /** A third station, which the faults between a and b do not touch. */
  readonly c: Station
}

/** Two stations that can reach each other, made anew for each test. */
export interface TransportPair {
  readonly a: Station
  readonly b: Station
  /** An address where nobody answers. */
  readonly nobody: { readonly peerId: NodeId; readonly url?: string }
  readonly faults?: PairFaults
  /** By the clock of the stations. */
  nowMs(): number
  /** Waits; a transport on a virtual clock advances it meanwhile. */
  settle<T>(promise: Promise<T>): Promise<T>
  /** Stops everything that was made. Stations may be stopped already. */
  stop(): Promise<void>
}

export interface PairOptions {
  /** Of both stations. */
  readonly limits?: Partial<ConnectionLimits>
  /** Of b alone, on top. */
  readonly limitsOfB?: Partial<ConnectionLimits>
}

export type MakePair = (options: PairOptions) => Promise<TransportPair>

export type DialResult = Connection | RunnelError

/** Dials and returns the outcome. */
export function dial(
  from: Station,
  to: { readonly peerId: NodeId; readonly url?: string; readonly timeoutMs?: number },
): Promise<DialResult> {
  return new Promise((resolve) => from.transport.dial({ ...to, onOpen: resolve, onFail: resolve }))
}

export function addressOf({ nodeId, url }: Station): { readonly peerId: NodeId; readonly url?: string } {
  return url === undefined ? { peerId: nodeId } : { peerId: nodeId, url }
}

/** The next link that others open. */
function nextInbound({ transport }: Station): Promise<Recorder> {
  return new Promise((resolve) => (transport.onInbound = (connection) => resolve(new Recorder(connection))))
}

/** A link from one station to another, both ends recorded from the first turn on. */
export async function openLink(
  pair: TransportPair,
  from = pair.a,
  to = pair.b,
): Promise<[Recorder, Recorder]> {
  const inbound = nextInbound(to)
  const outbound = new Promise<Recorder>((resolve, reject) =>
    from.transport.dial({
      ...addressOf(to),
      onOpen: (connection) => resolve(new Recorder(connection)),
      onFail: reject,
    }),
  )
  return pair.settle(Promise.all([outbound, inbound]))
}

/** The code a dial failed with; undefined when it did not. */
export function failureCode(result: DialResult): string | undefined {
  return isRunnelError(result) ? result.code : undefined
}
