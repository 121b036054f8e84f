import type { NodeId, Random } from '@runnel/protocol'

/** One-way latencies that are the same in both directions of a pair, evenly drawn for each pair. */
export function evenLatencies(
  { minMs, maxMs }: { readonly minMs: number; readonly maxMs: number },
  random: Random,
): (from: NodeId, to: NodeId) => number {
  return (from, to) => {
    const pair = from < to ? `${from} ${to}` : `${to} ${from}`
    return minMs + Math.floor(random.fork(pair).next() * (maxMs - minMs + 1))
  }
}
