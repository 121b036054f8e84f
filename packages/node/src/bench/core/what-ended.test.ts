import { describe, expect, it } from 'vitest'
import { whatEnded } from './what-ended.ts'

const saturated = { kind: 'generator-saturated', text: '' } as const
const died = { kind: 'process-died', text: '' } as const

describe('whatEnded', () => {
  it('blames the generator before what it cannot tell of', () => {
    expect(whatEnded({ doubts: [died, saturated], processes: [{ cpuShare: 1 }] })).toBe('generator')
  })

  it('blames a node that died, or has no more to give', () => {
    expect(whatEnded({ doubts: [died], processes: [] })).toBe('node')
    expect(whatEnded({ doubts: [], processes: [{ cpuShare: undefined }, { cpuShare: 0.95 }] })).toBe('node')
  })

  it('blames the network else', () => {
    expect(whatEnded({ doubts: [], processes: [{ cpuShare: 0.5 }] })).toBe('network')
  })
})
