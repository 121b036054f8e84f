import type { MeasuredMessage, NodeMeasurements } from '@runnel/node'
import { toNodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { analyse, worstClockErrorMs } from './analysis.ts'

const id = (digit: string) => toNodeId(`0x${digit.repeat(40)}`)
const chrony = { source: 'chrony', offsetMs: 0.01, errorMs: 0.3 } as const
const message = { publisherId: id('a'), timestamp: 5, sequenceNumber: 0, wallAgeMs: 11 }

function node(digit: string, some: Partial<NodeMeasurements>): NodeMeasurements {
  const rest = { clock: chrony, isPublishing: false, published: 0, delivered: 2, dropped: 0, messages: [] }
  return { nodeId: id(digit), ...rest, ...some }
}

const tracker = { clock: chrony, overlays: [] }

const copy = (some: Partial<MeasuredMessage>): MeasuredMessage => ({
  ...message,
  ageMs: 10,
  hops: 1,
  duplicates: 0,
  ...some,
})

describe('analyse', () => {
  it('counts what others received, and what they did not', () => {
    const own = [copy({ hops: 0, ageMs: 0, duplicates: 7 }), copy({ hops: 0, ageMs: 0, timestamp: 6 })]
    const nodes = [
      node('a', { published: 2, messages: own }),
      node('b', { messages: [copy({ duplicates: 3 }), copy({ timestamp: 6, ageMs: 30, hops: 3 })] }),
      node('c', { delivered: 0, messages: [copy({ ageMs: null, hops: null, duplicates: 0 })] }),
    ]
    const figures = analyse({ nodes, restarted: 0, tracker }, { published: 2 })
    expect(figures).toEqual({
      expected: 4,
      missing: 1,
      restarted: 0,
      undelivered: 2,
      delaysMs: [10, 30],
      meanMs: 20,
      p50Ms: 10,
      p95Ms: 30,
      p99Ms: 30,
      maxMs: 30,
      meanHops: 2,
      maxHops: 3,
      duplicatesPerMessage: 1,
      wallMeanMs: 11,
      untraced: 1,
    })
  })

  it('leaves out what was before', () => {
    const nodes = [
      node('a', { published: 2, messages: [copy({ hops: 0, ageMs: 0 }), copy({ timestamp: 6 })] }),
      node('b', { messages: [copy({ ageMs: 50 }), copy({ timestamp: 6, ageMs: 30, wallAgeMs: 40 })] }),
    ]
    const measured = { nodes, restarted: 0, tracker }
    const figures = analyse(measured, { published: 1, publishedBefore: 1, sinceMs: 6 })
    expect(figures).toMatchObject({ expected: 1, missing: 0, delaysMs: [30], meanMs: 30, wallMeanMs: 40 })
  })

  it('misses what a node had that was restarted, also where that one published', () => {
    const nodes = [node('b', { messages: [copy({}), copy({ timestamp: 6 })] }), node('c', { messages: [] })]
    const figures = analyse({ nodes, restarted: 1, tracker }, { published: 2 })
    expect(figures).toMatchObject({ expected: 4, missing: 2, restarted: 1, undelivered: 2 })
  })

  it('takes nothing for lost that a node did not remember', () => {
    const nodes = [node('a', { published: 1, messages: [copy({})] }), node('b', { dropped: 1 })]
    expect(() => analyse({ nodes, restarted: 0, tracker }, { published: 1 })).toThrow(
      expect.objectContaining({ code: 'MEASUREMENTS_DROPPED' }),
    )
  })
})

describe('worstClockErrorMs', () => {
  it('is that of the worst clock, or null where one is unknown', () => {
    const worst = { clock: { ...chrony, errorMs: 0.7 }, overlays: [] }
    expect(worstClockErrorMs({ nodes: [node('a', {})], restarted: 0, tracker: worst })).toBe(0.7)
    const unknown = { source: 'unknown', offsetMs: null, errorMs: null } as const
    expect(worstClockErrorMs({ nodes: [node('a', { clock: unknown })], restarted: 0, tracker })).toBeNull()
  })
})
