import type { Edge } from './api/answers.ts'
import type { Palette } from './colours.ts'
import { shownText } from './format.ts'

/** By what the two ends of an edge say that it goes. */
export type EdgeTransport = Pick<Edge, 'transport' | 'relayed'>

type Known = 'websocket' | 'webrtc' | 'turn' | 'tcp' | 'circuit'

/** In the order in which a legend names them. */
const names: Readonly<Record<Known, string>> = {
  websocket: 'WebSocket',
  webrtc: 'WebRTC',
  turn: 'WebRTC over TURN',
  tcp: 'TCP',
  circuit: 'Circuit',
}

export const notReported = 'not reported'

function knownOf({ transport, relayed }: EdgeTransport): Known | undefined {
  if (transport === 'webrtc' && relayed) return 'turn'
  return transport !== null && Object.hasOwn(names, transport) ? (transport as Known) : undefined
}

/** Of a kind that this page does not know, what the nodes call it. */
export function nameOfTransport(edge: EdgeTransport): string {
  const known = knownOf(edge)
  if (known !== undefined) return names[known]
  return edge.transport === null ? notReported : shownText(edge.transport)
}

export function colourOfTransport(edge: EdgeTransport, palette: Palette): string {
  return palette[knownOf(edge) ?? 'unmeasured']
}

/** How many edges go by each transport; the most first, and last those of which nothing is reported. */
export function countTransports<E extends EdgeTransport>(
  edges: readonly E[],
): readonly { readonly name: string; readonly edges: readonly [E, ...E[]] }[] {
  const groups = new Map<string, [E, ...E[]]>()
  for (const edge of edges) {
    const name = nameOfTransport(edge)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [edge])
    else group.push(edge)
  }
  const rank = (name: string, of: readonly E[]) => (name === notReported ? 0 : of.length)
  return [...groups]
    .map(([name, of]) => ({ name, edges: of }))
    .toSorted((a, b) => rank(b.name, b.edges) - rank(a.name, a.edges))
}
