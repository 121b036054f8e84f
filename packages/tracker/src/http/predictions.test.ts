import { seededRandom, type StreamPartId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { nodeId, statusOf, TrackerStory } from '../core/tracker-core.testkit.ts'
import { predictionLimits, Predictions, type PredictionLimits } from './predictions.ts'

const partOf = (n: number) => `0x00000000000000000000000000000000000000aa/p${n}#0` as StreamPartId

/** Stream parts of three nodes each, every round-trip time 10 ms. */
function parts(count: number) {
  const story = new TrackerStory()
  const ids = [1, 2, 3].map(nodeId)
  for (const id of ids) story.connect(id)
  return Array.from({ length: count }, (_, n) => {
    for (const id of ids) story.packet(id, statusOf(partOf(n)))
    for (const id of ids) {
      const neighbours = ids.filter((other) => other !== id).map((other) => ({ nodeId: other, rttMs: 10 }))
      story.packet(id, { ...statusOf(partOf(n)), neighbours })
    }
    const part = story.core.streamParts.get(partOf(n))
    if (part === undefined) throw new Error('nobody has joined')
    return part
  })
}

function setUp(limits: Partial<PredictionLimits> = {}) {
  const clock = { nowMs: 0, turns: 0 }
  const predictions = new Predictions(
    { processingMs: 1, limits: { ...predictionLimits, ...limits } },
    {
      random: seededRandom('predictions'),
      nowMs: () => clock.nowMs,
      turn: () => {
        clock.turns++
        return Promise.resolve()
      },
    },
  )
  return { clock, predictions }
}

describe('predictions', () => {
  it('are made when asked for, once for all who ask, leaving turns to others', async () => {
    const [part] = parts(1)
    if (part === undefined) throw new Error('no part')
    const { clock, predictions } = setUp()
    const [first, second] = await Promise.all([predictions.of(part), predictions.of(part)])
    expect(first).toEqual({
      streamPartId: part.id,
      processingMs: 1,
      delays: { meanMs: 6, p99Ms: 6, sources: 3, nodes: 3, edges: 3, measuredEdges: 3 },
    })
    expect(second).toBe(first)
    expect(clock.turns).toBe(3)
  })

  it('are given again for a while, and then made anew', async () => {
    const [part] = parts(1)
    if (part === undefined) throw new Error('no part')
    const { clock, predictions } = setUp()
    const first = await predictions.of(part)
    clock.nowMs = predictionLimits.predictionFreshMs - 1
    expect(await predictions.of(part)).toBe(first)
    clock.nowMs++
    expect(await predictions.of(part)).not.toBe(first)
  })

  it('are refused when too many wait, and few are remembered', async () => {
    const all = parts(5)
    const { clock, predictions } = setUp({ maxWaitingPredictions: 3, maxPredictions: 2 })
    const asked = all.map((part) => predictions.of(part))
    expect(asked.map((answer) => answer !== undefined)).toEqual([true, true, true, false, false])
    await Promise.all(asked.filter((answer) => answer !== undefined))
    expect(clock.turns).toBe(9)
    for (const part of all.slice(1, 3)) await predictions.of(part)
    expect(clock.turns).toBe(9)
    for (const part of all.slice(0, 1)) await predictions.of(part)
    expect(clock.turns).toBe(12)
  })
})
