import { floodGivenOverlay } from '@runnel/sim/given-overlay'
import type { FormedOverlay } from '../session/formed-overlay.ts'
import type { Running } from './experiment.ts'

/** The mean delay of a message of each node through the same overlay in the simulator; undefined where the underlay is not known. */
export async function simulatedMeanMs(
  { session, oneWayMs }: Running,
  { edges, degrees }: FormedOverlay,
): Promise<number | undefined> {
  if (edges.some(({ a, b }) => oneWayMs(a, b) === undefined)) return undefined
  const { meanMs } = await floodGivenOverlay({
    nodes: degrees.length,
    edges: edges.map(({ a, b }) => [a, b] as const),
    oneWayMs: (from, to) => oneWayMs(from, to) ?? 0,
    publishers: session.everybody,
  })
  return meanMs
}
