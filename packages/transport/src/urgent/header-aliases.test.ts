import type { UrgentParts } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { KnownAliases, SentAliases } from './header-aliases.ts'

const named = (chain: string) => ({ chain, headerBytes: 3 })

describe('SentAliases', () => {
  it('gives each chain a number, which is known once a frame with it arrived', () => {
    const aliases = new SentAliases(4)
    expect(aliases.nameOf({ chain: 'a', headerBytes: 0 })).toEqual({ alias: 0, isKnown: false })
    expect(aliases.nameOf(named('a'))).toEqual({ alias: 1, isKnown: false })
    expect(aliases.nameOf(named('b'))).toEqual({ alias: 2, isKnown: false })
    aliases.arrived(2)
    aliases.arrived(9)
    expect(aliases.nameOf(named('a'))).toEqual({ alias: 1, isKnown: false })
    expect(aliases.nameOf(named('b'))).toEqual({ alias: 2, isKnown: true })
  })

  it('has so many at once, and never uses a number for another chain', () => {
    const aliases = new SentAliases(2)
    const numbers = ['a', 'b', 'c', 'a'].map((chain) => aliases.nameOf(named(chain)).alias)
    expect(numbers).toEqual([1, 2, 3, 4])
  })
})

describe('KnownAliases', () => {
  const define = (alias: number, header: number): UrgentParts => ({
    ...{ remainingMs: 1, alias, headerBytes: 2, bytes: Uint8Array.of(header, header, 9) },
  })
  const use = (alias: number): UrgentParts => ({
    ...{ remainingMs: 1, alias, headerBytes: 0, bytes: Uint8Array.of(7) },
  })

  it('puts the header before what comes without', () => {
    const aliases = new KnownAliases(2)
    expect(aliases.batchOf(use(0))).toEqual(Uint8Array.of(7))
    expect(aliases.batchOf(use(1))).toBeUndefined()
    expect(aliases.batchOf(define(1, 5))).toEqual(Uint8Array.of(5, 5, 9))
    expect(aliases.batchOf(use(1))).toEqual(Uint8Array.of(5, 5, 7))
    // Whoever says it again cannot change it.
    aliases.batchOf(define(1, 6))
    expect(aliases.batchOf(use(1))).toEqual(Uint8Array.of(5, 5, 7))
  })

  it('keeps the newest, as the sender uses no others, whatever is said', () => {
    const aliases = new KnownAliases(2)
    for (const alias of [1, 3, 2, 4_000_000_000, 5, 3_999_999_999]) aliases.batchOf(define(alias, 1))
    expect(aliases.size).toBe(2)
    expect(aliases.batchOf(use(3))).toBeUndefined()
    expect(aliases.batchOf(use(3_999_999_999))).toBeDefined()
  })
})
