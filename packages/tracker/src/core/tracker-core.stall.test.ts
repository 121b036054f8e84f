import { describe, expect, it } from 'vitest'
import {
  instructions,
  nodeId,
  partA,
  partB,
  statusOf,
  storing,
  TrackerStory,
} from './tracker-core.testkit.ts'

const ids = [1, 2, 3, 4, 5].map(nodeId)

/** Nodes in an overlay, each of which has said that it has its neighbours. */
function overlay(story: TrackerStory) {
  for (const id of ids) story.join(id)
  story.advance(1_000)
  const told = new Map(instructions(story.effects).map((each) => [each.to, each]))
  for (const [id, { counter, neighbours }] of told) story.packet(id, statusOf(partA, counter, neighbours))
  return told
}

describe('a tracker that stood still', () => {
  it('knows nobody any more, and tells nobody anything', () => {
    const story = new TrackerStory()
    overlay(story)
    story.packet(nodeId(1), statusOf(partB))
    story.packet(nodeId(2), storing(partA))
    story.disconnect(nodeId(3))
    story.now += 60_000
    expect(story.core.handle({ type: 'stalled' }, story.now)).toEqual([])
    expect(story.advance(60_000)).toEqual([])
    expect([story.core.nodes.size, story.core.streamParts.size, story.core.storage.count(partA)]).toEqual([
      0, 0, 0,
    ])
    expect([story.core.dueMs, story.core.counters.get('stalls')]).toEqual([Infinity, 1])
  })

  it('takes the overlay over as its nodes have it when they come, and not as it was', () => {
    const story = new TrackerStory({ degree: 2 })
    overlay(story)
    const before = story.core.streamParts.get(partA)?.topology.edgeCount
    story.core.handle({ type: 'stalled' }, story.now + 60_000)
    story.now += 60_000
    const effects = ids.flatMap((id, index) => {
      const ring = [index + 1, index + 4].map((n) => ids[n % ids.length] ?? id)
      return [...story.connect(id), ...story.packet(id, statusOf(partA, 50, ring))]
    })
    effects.push(...story.advance(1_000))
    const topology = story.core.streamParts.get(partA)?.topology
    ids.forEach((id, index) => expect(topology?.hasEdge(id, ids[(index + 1) % ids.length] ?? id)).toBe(true))
    expect([before, topology?.edgeCount]).toEqual([5, 5])
    const told = instructions(effects)
    expect(told.map(({ to }) => to).toSorted()).toEqual(ids)
    for (const { counter } of told) expect(counter).toBeGreaterThan(50)
  })
})
