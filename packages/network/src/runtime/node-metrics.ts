import type { Links, Transport } from '@runnel/transport'
import type { CounterName, GaugeName } from '../core/counters.ts'
import type { NodeCore } from '../core/node-core.ts'
import type { NetworkNode } from '../ports.ts'

export interface NodeState {
  readonly core: Pick<NodeCore, 'counters' | 'streamParts' | 'linkModes'>
  readonly nowMs: number
}

/** A node's counters, and the current state of its stream parts. */
export function nodeMetrics(
  { core, nowMs }: NodeState,
  wires: { readonly links: Pick<Links, 'peers'>; readonly transports: readonly Pick<Transport, 'metrics'>[] },
  others: Omit<Record<GaugeName, number>, 'links.open' | `circuits.${string}`> &
    Record<CounterName & 'data.verifiersLost', number>,
): ReturnType<NetworkNode['metrics']> {
  const { peers } = wires.links
  const gauges: Record<GaugeName, number> = {
    ...{ 'links.open': peers.size, 'circuits.open': 0, 'circuits.waiting': 0 },
    ...others,
  }
  const ofTransports: Record<string, number> = Object.assign(
    {},
    ...wires.transports.map(({ metrics }) => metrics),
  )
  const modes = core.linkModes(nowMs)
  const streamParts = Array.from(core.streamParts, (part) => ({
    streamPartId: part.id,
    neighbours: part.attached.map((nodeId) => {
      const connection = peers.get(nodeId)
      return {
        nodeId,
        transport: connection?.transport ?? '',
        rttMs: connection?.rttMs,
        path: connection?.path,
        modes: modes.of(part.id, nodeId),
      }
    }),
    wantedNeighbours: part.wanted.size,
    delivered: part.delivered,
    duplicates: part.duplicates,
    published: part.published,
  }))
  return { counters: { ...core.counters, ...gauges, ...ofTransports }, streamParts }
}
