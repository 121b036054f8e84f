import type { NodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { isNewOneUsed } from './settle.ts'

const low = `0x${'1'.repeat(40)}` as NodeId
const high = `0x${'2'.repeat(40)}` as NodeId
const atLow = { self: low, peer: high, raceWindowMs: 100 }
const atHigh = { self: high, peer: low, raceWindowMs: 100 }
const out = (openedMs: number) => ({ direction: 'outbound' as const, openedMs })
const inn = (openedMs: number) => ({ direction: 'inbound' as const, openedMs })

describe('isNewOneUsed', () => {
  it('uses what the lower id dialled when both dialled, on both sides and in either order', () => {
    expect(isNewOneUsed(atLow, out(0), inn(5))).toBe(false)
    expect(isNewOneUsed(atLow, inn(0), out(5))).toBe(true)
    expect(isNewOneUsed(atHigh, out(0), inn(5))).toBe(true)
    expect(isNewOneUsed(atHigh, inn(0), out(5))).toBe(false)
  })

  it('uses the newer of one dialler, who had lost the older', () => {
    expect(isNewOneUsed(atLow, inn(0), inn(5))).toBe(true)
    expect(isNewOneUsed(atHigh, out(0), out(5))).toBe(true)
  })

  it('uses one that comes too late to be of the same race', () => {
    expect(isNewOneUsed(atLow, out(0), inn(100))).toBe(false)
    expect(isNewOneUsed(atLow, out(0), inn(101))).toBe(true)
  })
})
