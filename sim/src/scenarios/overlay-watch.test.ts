import { seededRandom } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { OverlayWatch } from './overlay-watch.ts'

/** A watch of nodes in a ring, all edges at both ends. */
function ring(nodes: number): OverlayWatch {
  const watch = new OverlayWatch(nodes)
  for (let node = 0; node < nodes; node++)
    watch.changed(node, [(node + 1) % nodes, (node + nodes - 1) % nodes], 0)
  return watch
}

describe('OverlayWatch', () => {
  it('sees nothing wrong where nothing changes, and nothing at all before it begins', () => {
    const watch = ring(6)
    expect(watch.report(10)).toMatchObject({ connectedThroughout: false, changes: 0 })
    watch.begin(10)
    expect(watch.report(20)).toEqual({
      connectedThroughout: true,
      disconnectedMs: 0,
      minAttachedThroughout: 2,
      maxAttachedThroughout: 2,
      changes: 0,
    })
    expect(watch.attached).toBe(12)
  })

  it('counts the time in pieces, and one end is enough to lose an edge', () => {
    const watch = ring(6)
    watch.begin(0)
    watch.changed(0, [1], 100)
    expect(watch.report(150)).toMatchObject({ connectedThroughout: true, minAttachedThroughout: 1 })
    watch.changed(3, [2], 200)
    expect(watch.report(230)).toMatchObject({ connectedThroughout: false, disconnectedMs: 30 })
    watch.changed(3, [2, 4], 250)
    expect(watch.report(300)).toMatchObject({ disconnectedMs: 50 })
    watch.changed(1, [0], 300)
    watch.changed(1, [0, 2], 300)
    expect(watch.report(300).disconnectedMs).toBe(50)
  })

  it('knows a graph that was never in one piece', () => {
    const watch = new OverlayWatch(3)
    watch.changed(0, [1], 0)
    watch.changed(1, [0], 0)
    watch.begin(5)
    expect(watch.report(7)).toMatchObject({ disconnectedMs: 2, minAttachedThroughout: 0 })
  })

  it('finds what a search through the whole graph finds, at every change', () => {
    const random = seededRandom('watch')
    const below = (limit: number): number => Math.floor(random.next() * limit)
    const nodes = 12
    const watch = ring(nodes)
    watch.begin(0)
    const isWhole = (): boolean => {
      const reached = new Set([0])
      for (const a of reached)
        for (const b of watch.neighbours[a] ?? []) if (watch.neighbours[b]?.has(a)) reached.add(b)
      return reached.size === nodes
    }
    let inPiecesMs = 0
    for (let atMs = 1; atMs <= 3000; atMs++) {
      if (!isWhole()) inPiecesMs++
      const node = below(nodes)
      const others = new Set(watch.neighbours[node])
      for (let i = below(3); i >= 0; i--) {
        const other = (node + 1 + below(nodes - 1)) % nodes
        if (others.size > 2 && random.next() < 0.7) others.delete(other)
        else others.add(other)
      }
      watch.changed(node, others, atMs)
    }
    expect(inPiecesMs).toBeGreaterThan(50)
    expect(inPiecesMs).toBeLessThan(2900)
    expect(watch.report(3000).disconnectedMs).toBe(inPiecesMs)
  })
})
