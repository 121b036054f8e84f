/** Sources that are followed at the same time, one in each bit of a word. */
const sourcesAtOnce = 32

/**
 * The greatest number of hops from one of the sources to any node; from all sources it is the diameter. Infinity when a
 * node cannot be reached. `neighbours` is as `buildOverlay` makes it.
 */
export function greatestEccentricity(
  neighbours: Int32Array,
  degree: number,
  sources: readonly number[],
): number {
  let greatest = 0
  for (let from = 0; from < sources.length; from += sourcesAtOnce) {
    const some = sources.slice(from, from + sourcesAtOnce)
    greatest = Math.max(greatest, floodHops(neighbours, degree, some))
  }
  return greatest
}

/** Rounds until every node has been reached from every source: each round a node takes over what its neighbours had. */
function floodHops(neighbours: Int32Array, degree: number, sources: readonly number[]): number {
  const nodes = neighbours.length / degree
  let reached = new Uint32Array(nodes)
  sources.forEach((source, bit) => (reached[source] = ((reached[source] ?? 0) | (1 << bit)) >>> 0))
  const all = sources.length === 32 ? 0xffffffff : 2 ** sources.length - 1
  for (let hops = 0; hops <= nodes; hops++) {
    if (reached.every((word) => word === all)) return hops
    const next = new Uint32Array(nodes)
    for (let node = 0; node < nodes; node++) {
      let word = reached[node] ?? 0
      for (let place = node * degree; place < (node + 1) * degree; place++) {
        const other = neighbours[place] ?? -1
        if (other >= 0) word |= reached[other] ?? 0
      }
      next[node] = word
    }
    // Who has not been reached by now never is.
    if (next.every((word, node) => word === reached[node])) return Infinity
    reached = next
  }
  return Infinity
}
