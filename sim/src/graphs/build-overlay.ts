import { seededRandom } from '@runnel/protocol'
import { OverlayTopology } from '@runnel/tracker'

/**
 * The neighbours of each node in an overlay that the tracker's own algorithm built, nodes joining one after the other:
 * `degree` node numbers for each node in turn, or fewer, with -1 in the free places.
 */
export function buildOverlay(nodes: number, degree: number, seed: string): Int32Array {
  const topology = new OverlayTopology<string>({ degree }, { random: seededRandom(seed) })
  for (let node = 0; node < nodes; node++) topology.add(String(node))
  const neighbours = new Int32Array(nodes * degree).fill(-1)
  for (let node = 0; node < nodes; node++) {
    let place = node * degree
    for (const other of topology.neighbours(String(node))) neighbours[place++] = Number(other)
  }
  return neighbours
}
