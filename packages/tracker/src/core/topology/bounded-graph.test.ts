import { describe, expect, it } from 'vitest'
import { BoundedGraph } from './bounded-graph.ts'

function graphOf(degree: number, nodes: string, edges: string[] = []): BoundedGraph<string> {
  const graph = new BoundedGraph<string>(degree)
  for (const id of nodes) graph.addNode(id)
  for (const [a = '', b = ''] of edges) graph.connect(a, b)
  return graph
}

describe('BoundedGraph', () => {
  it('knows each edge from both ends, under one object', () => {
    const graph = graphOf(2, 'abc', ['ab', 'bc'])
    expect([graph.adjacent('a', 'b'), graph.adjacent('b', 'a'), graph.adjacent('a', 'c')]).toEqual([
      true,
      true,
      false,
    ])
    expect(graph.linksOf('a').get('b')).toBe(graph.linksOf('b').get('a'))
    expect([...graph.edges]).toEqual([{ a: 'a', b: 'b', near: false }, { a: 'b', b: 'c', near: false }]) // prettier-ignore
  })

  it('keeps the nodes with free slots', () => {
    const graph = graphOf(2, 'abc', ['ab', 'bc'])
    expect([...graph.open].sort()).toEqual(['a', 'c'])
    expect([graph.freeSlots('a'), graph.freeSlots('b')]).toEqual([1, 0])
    graph.disconnect('b', 'a')
    expect([...graph.open].sort()).toEqual(['a', 'b', 'c'])
    expect([...graph.edges]).toEqual([{ a: 'b', b: 'c', near: false }])
    graph.removeNode('a')
    expect([...graph.open].sort()).toEqual(['b', 'c'])
    expect([...graph.nodes()]).toEqual(['b', 'c'])
  })

  it('refuses what would break it', () => {
    const graph = graphOf(1, 'abc', ['ab'])
    expect(() => graph.addNode('a')).toThrow('already')
    expect(() => graph.removeNode('a')).toThrow('still has edges')
    expect(() => graph.removeNode('x')).toThrow('unknown node')
    expect(() => graph.connect('b', 'a')).toThrow('not be simple')
    expect(() => graph.connect('c', 'c')).toThrow('not be simple')
    expect(() => graph.connect('c', 'b')).toThrow('no free slots')
    expect(() => graph.connect('c', 'x')).toThrow('unknown node')
    expect(() => graph.disconnect('a', 'c')).toThrow('no edge')
    expect([...graph.edges]).toEqual([{ a: 'a', b: 'b', near: false }])
  })
})
