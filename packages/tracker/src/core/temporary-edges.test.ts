import { seededRandom } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { TemporaryEdges } from './temporary-edges.ts'

const degree = 4

function choice(avoids: (a: string, b: string) => boolean = () => false) {
  return { degree, random: seededRandom('temporary edges'), avoids }
}

describe('temporary edges', () => {
  it('have as many members as neighbours are usual, each once, and each knows of it', () => {
    const edges = new TemporaryEdges<string>()
    const found = edges.add('newcomer', ['a', 'b', 'c', 'd', 'e', 'f', 'newcomer'], choice())
    expect(found.length).toBe(degree)
    expect(edges.of('newcomer')).toEqual(new Set(found))
    expect(found).not.toContain('newcomer')
    for (const member of found) expect([...edges.of(member)]).toEqual(['newcomer'])
  })

  it('have no more members than there are, and none that should be avoided', () => {
    const edges = new TemporaryEdges<string>()
    const avoids = (a: string, b: string) => [a, b].includes('c')
    expect(edges.add('newcomer', ['a', 'b', 'c'], choice(avoids)).toSorted()).toEqual(['a', 'b'])
    expect(edges.add('other', [], choice())).toEqual([])
    expect(edges.has('other')).toBe(false)
  })

  it('do not crowd a member, however many come', () => {
    const edges = new TemporaryEdges<string>()
    const members = ['a', 'b', 'c']
    let connected = 0
    for (let n = 0; n < 1_000; n++) {
      if (edges.add(`newcomer ${n}`, members, choice()).length > 0) members.push(`newcomer ${n}`)
    }
    for (const member of members) {
      expect(edges.of(member).size).toBeLessThanOrEqual(2 * degree)
      if (edges.of(member).size > 0) connected++
    }
    expect(connected).toBeGreaterThan(900)
  })

  it('part from one member, or go', () => {
    const edges = new TemporaryEdges<string>()
    edges.add('newcomer', ['a', 'b'], choice())
    expect(edges.part('newcomer', 'a')).toBe(true)
    expect(edges.part('newcomer', 'a')).toBe(false)
    expect(edges.has('a')).toBe(false)
    expect(edges.delete('newcomer')).toEqual(new Set(['b']))
    expect([edges.has('newcomer'), edges.has('b')]).toEqual([false, false])
  })
})
