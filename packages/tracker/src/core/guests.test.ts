import { seededRandom } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { Guests } from './guests.ts'

const degree = 4

function choice(avoids: (a: string, b: string) => boolean = () => false) {
  return { degree, random: seededRandom('guests'), avoids }
}

describe('guests', () => {
  it('have as many hosts as neighbours are usual, each once, and each knows of it', () => {
    const guests = new Guests<string>()
    const found = guests.lodge('guest', ['a', 'b', 'c', 'd', 'e', 'f', 'guest'], choice())
    expect(found.length).toBe(degree)
    expect(guests.of('guest')).toEqual(new Set(found))
    expect(found).not.toContain('guest')
    for (const host of found) expect([...guests.of(host)]).toEqual(['guest'])
  })

  it('have no more hosts than there are, and none that should be avoided', () => {
    const guests = new Guests<string>()
    const avoids = (a: string, b: string) => [a, b].includes('c')
    expect(guests.lodge('guest', ['a', 'b', 'c'], choice(avoids)).toSorted()).toEqual(['a', 'b'])
    expect(guests.lodge('other', [], choice())).toEqual([])
    expect(guests.has('other')).toBe(false)
  })

  it('do not crowd a host, however many come', () => {
    const guests = new Guests<string>()
    const hosts = ['a', 'b', 'c']
    let lodged = 0
    for (let n = 0; n < 1_000; n++) {
      if (guests.lodge(`guest ${n}`, hosts, choice()).length > 0) hosts.push(`guest ${n}`)
    }
    for (const host of hosts) {
      expect(guests.of(host).size).toBeLessThanOrEqual(2 * degree)
      if (guests.of(host).size > 0) lodged++
    }
    expect(lodged).toBeGreaterThan(900)
  })

  it('part from one host, or go', () => {
    const guests = new Guests<string>()
    guests.lodge('guest', ['a', 'b'], choice())
    expect(guests.part('guest', 'a')).toBe(true)
    expect(guests.part('guest', 'a')).toBe(false)
    expect(guests.has('a')).toBe(false)
    expect(guests.delete('guest')).toEqual(new Set(['b']))
    expect([guests.has('guest'), guests.has('b')]).toEqual([false, false])
  })
})
