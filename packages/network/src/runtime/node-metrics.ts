import type { Links, Transport } from '@runnel/transport'
import type { GaugeName } from '../core/counters.ts'
import type { NodeCore } from '../core/node-core.ts'
import type { NetworkNode } from '../ports.ts'

/** A node's counters, and the current state of its stream parts. */
export function nodeMetrics(
  core: Pick<NodeCore, 'counters' | 'streamParts'>,
  wires: { readonly links: Pick<Links, 'peers'>; readonly transports: readonly Pick<Transport, 'metrics'>[] },
  others: Omit<Record<GaugeName, number>, 'links.open' | `circuits.${string}`>,
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
  const streamParts = Array.from(core.streamParts, (part) => ({
    streamPartId: part.id,
    neighbours: part.attached.map((nodeId) => {
      const connection = peers.get(nodeId)
      return {
        nodeId,
        transport: connection?.transport ?? '',
        rttMs: connection?.rttMs,
        path: connection?.path,
      }
    }),
    wantedNeighbours: part.wanted.size,
    delivered: part.delivered,
    duplicates: part.duplicates,
    published: part.published,
  }))
  return { counters: { ...core.counters, ...gauges, ...ofTransports }, streamParts }
}
