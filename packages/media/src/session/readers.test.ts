import { describe, expect, it } from 'vitest'
import { mediaLimits } from '../limits.ts'
import { memberOf } from '../recording/members.testkit.ts'
import { Readers } from './readers.ts'

const silent = memberOf('ada', [])
const reading = (...reads: number[]) => ({ ...silent, catalogue: { ...silent.catalogue, reads } })

describe('the partitions of a session', () => {
  it('are read by members that say so, and by those that do not say what they read', () => {
    const readers = new Readers()
    expect(readers.read(2, [reading(0, 1)], 0)).toBe(false)
    expect(readers.read(1, [reading(0), reading(0, 1)], 0)).toBe(true)
    expect(readers.read(2, [silent], 0)).toBe(true)
    expect(readers.read(3, [], 0)).toBe(false)
  })

  it('are read for some seconds more, so that nobody makes others publish and stop again and again', () => {
    const readers = new Readers()
    expect(readers.read(2, [reading(0, 2)], 0)).toBe(true)
    expect(readers.read(2, [reading(0)], 5_000)).toBe(true)
    expect(readers.read(2, [reading(0)], 7_000)).toBe(false)
  })

  it('are read by others who say so again and again', () => {
    const readers = new Readers()
    readers.heard([2], 0)
    expect(readers.read(2, [], mediaLimits.memberTtlMs - 1)).toBe(true)
    expect(readers.read(2, [], mediaLimits.memberTtlMs)).toBe(false)
  })
})
