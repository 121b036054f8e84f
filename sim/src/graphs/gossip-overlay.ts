import type { Random } from '@runnel/protocol'

export interface GossipOptions {
  readonly nodes: number
  readonly attackers: number
  /** Neighbours a node knows at a time. */
  readonly viewSize: number
  /** Each node exchanges views with one neighbour in each. */
  readonly rounds: number
}

interface Entry {
  readonly id: number
  readonly age: number
}

/**
 * An ordinary random overlay, to compare with: nodes choose their neighbours themselves, by exchanging views with a random
 * neighbour and keeping the freshest entries (Jelasity and others, "Newscast computing", 2003). Attackers tell of themselves
 * only, as if they had just come: the hub attack. Gives each honest node's neighbours; numbers below `nodes` are honest.
 */
export function gossipOverlay(options: GossipOptions, random: Random): ReadonlySet<number>[] {
  const { nodes, attackers, viewSize, rounds } = options
  const anyOf = (count: number): number => Math.floor(random.next() * count)
  const poison = Array.from({ length: attackers }, (_, i) => ({ id: nodes + i, age: 0 }))
  const views: Entry[][] = Array.from({ length: nodes }, () =>
    Array.from({ length: viewSize }, () => ({ id: anyOf(nodes + attackers), age: 0 })),
  )
  const keep = (id: number, entries: readonly Entry[]): Entry[] => {
    const freshest = new Map<number, Entry>()
    for (const entry of entries) {
      const known = freshest.get(entry.id)
      if (entry.id !== id && (known === undefined || entry.age < known.age)) freshest.set(entry.id, entry)
    }
    return [...freshest.values()].sort((a, b) => a.age - b.age).slice(0, viewSize)
  }
  for (let round = 0; round < rounds; round++) {
    for (let id = 0; id < nodes; id++) {
      const mine = (views[id] ?? []).map((entry) => ({ ...entry, age: entry.age + 1 }))
      const peer = mine[anyOf(mine.length)]
      if (peer === undefined) continue
      const theirs = peer.id < nodes ? (views[peer.id] ?? []) : poison
      views[id] = keep(id, [...mine, ...theirs, { id: peer.id, age: 0 }])
      if (peer.id < nodes) views[peer.id] = keep(peer.id, [...theirs, ...mine, { id, age: 0 }])
    }
  }
  return views.map((view) => new Set(view.map(({ id }) => id)))
}

/** The largest share of the nodes that is in one piece, over edges that one of both ends has, when all others are gone. */
export function largestPiece(neighbours: readonly ReadonlySet<number>[]): number {
  const nodes = neighbours.length
  const both = neighbours.map((others) => new Set([...others].filter((id) => id < nodes)))
  neighbours.forEach((others, id) => {
    for (const other of others) both[other]?.add(id)
  })
  const seen = new Set<number>()
  let largest = 0
  for (let start = 0; start < nodes; start++) {
    if (seen.has(start)) continue
    const piece = new Set([start])
    for (const id of piece) for (const other of both[id] ?? []) piece.add(other)
    for (const id of piece) seen.add(id)
    largest = Math.max(largest, piece.size)
  }
  return nodes === 0 ? 0 : largest / nodes
}
