import { describe, expect, it } from 'vitest'
import { seededRandom } from '@runnel/protocol'
import { TreeOverlay } from './tree-overlay.ts'

function treeOf(nodes: number, degree = 4, publishers = new Set<string>()): TreeOverlay<string> {
  const tree = new TreeOverlay<string>(degree, {
    random: seededRandom(`tree of ${nodes}`),
    maxMeasuredPeers: 32,
    isPublisher: (id) => publishers.has(id),
  })
  for (let n = 0; n < nodes; n++) tree.add(`n${n}`)
  return tree
}

/** Nodes that the root reaches without `lost`, in the order of their distance, with their hops. */
function reached(tree: TreeOverlay<string>, lost?: string): Map<string, number> {
  const hops = new Map([[tree.entry ?? '', 0]])
  for (const [id, far] of hops)
    for (const other of tree.neighbours(id)) if (other !== lost && !hops.has(other)) hops.set(other, far + 1)
  return hops
}

/** Nodes whose loss cuts others off from the root. */
function cutNodes(tree: TreeOverlay<string>): string[] {
  const isCut = (id: string) => id !== tree.entry && reached(tree, id).size < tree.size - 1
  return [...tree.nodes()].filter(isCut)
}

describe('a tree', () => {
  it('is rooted at the first node, and as flat as its degree allows', () => {
    const tree = treeOf(121, 4)
    expect(tree.entry).toBe('n0')
    // 1 + 4 + 12 + 36 = 53 nodes within three hops; 161 within four.
    expect(Math.max(...reached(tree).values())).toBeLessThanOrEqual(4)
  })

  it('has few more edges than nodes', () => {
    expect(treeOf(1_000, 4).edgeCount / 1_000).toBeLessThan(1.5)
  })

  it('puts a publisher at the root when it comes, when it is known to publish, and when the root leaves', () => {
    const publishers = new Set(['n30'])
    const tree = treeOf(40, 4, publishers)
    expect(tree.entry).toBe('n30')
    publishers.add('n12').add('n20').delete('n30')
    tree.improve('n12', () => true)
    expect(tree.entry).toBe('n12')
    tree.remove('n12')
    expect(tree.entry).toBe('n20')
    tree.remove('n20')
    expect(reached(tree).size).toBe(38)
  })

  it.each([3, 4, 8])(
    'with degree %d cuts nobody off when any node but the root is lost, whatever happened',
    (degree) => {
      for (let seed = 0; seed < 5; seed++) {
        const random = seededRandom(`churn ${seed}`)
        const tree = treeOf(60, degree)
        expect(cutNodes(tree)).toEqual([])
        for (let n = 60; n < 160; n++) {
          const nodes = [...tree.nodes()]
          tree.remove(nodes[Math.floor(random.next() * nodes.length)] ?? '')
          tree.add(`n${n}`)
          if (n % 10 === 0) expect(cutNodes(tree)).toEqual([])
        }
      }
    },
  )

  it('brings nodes nearer to the root that are near it, and lets surplus spare edges go', () => {
    const tree = treeOf(100)
    const place = (id: string) => Number(id.slice(1)) % 4
    const rttMs = (a: string, b: string) => (place(a) === place(b) ? 2 : 150)
    const report = (id: string) => {
      const rttsMs = [...tree.neighbours(id)].map(
        (other) => [other, place(id) === place(other) ? 2 : 150] as const,
      )
      tree.report(id, new Map(rttsMs))
    }
    /** From the root along the tree, over all nodes. */
    const meanDelayMs = () => {
      const delaysMs = new Map([[tree.entry ?? '', 0]])
      for (const [id, delayMs] of delaysMs)
        for (const other of tree.neighbours(id))
          if (tree.isNear(id, other) && !delaysMs.has(other)) delaysMs.set(other, delayMs + rttMs(id, other))
      return [...delaysMs.values()].reduce((sum, ms) => sum + ms, 0) / tree.size
    }
    const before = meanDelayMs()
    for (let round = 0; round < 40; round++) {
      for (const id of tree.nodes()) report(id)
      for (const id of tree.nodes()) tree.improve(id, () => true)
    }
    expect(meanDelayMs()).toBeLessThan(before / 2)
    expect(cutNodes(tree)).toEqual([])
    expect(tree.edgeCount).toBeLessThan(150)
  })
})
