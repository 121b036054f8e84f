import type { StreamId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { nodeId, partA, partB, TrackerStory } from './tracker-core.testkit.ts'

const streamOfA = partA.slice(0, partA.indexOf('#')) as StreamId

describe('the overlay that the owner of a stream has chosen', () => {
  it('is made of the edges there are, and improved from then on', () => {
    const story = new TrackerStory()
    for (let n = 0; n < 20; n++) story.join(nodeId(n), partA)
    story.join(nodeId(30), partB)
    const edges = [...(story.core.streamParts.get(partA)?.topology.edges() ?? [])].map(String)
    story.core.handle(
      { type: 'overlay', streamId: streamOfA, overlay: { strategy: 'topology-aware' } },
      story.now,
    )
    expect(story.core.streamParts.get(partA)?.kind.strategy).toBe('topology-aware')
    expect(story.core.streamParts.get(partB)?.kind.strategy).toBe('random')
    expect([...(story.core.streamParts.get(partA)?.topology.edges() ?? [])].map(String)).toEqual(edges)
    expect(story.core.streamParts.get(partA)?.improvementsDue).toBeGreaterThan(0)

    story.core.handle({ type: 'overlay', streamId: streamOfA, overlay: undefined }, story.now)
    expect(story.core.streamParts.get(partA)?.kind.strategy).toBe('random')
    expect(story.core.streamParts.get(partA)?.improvementsDue).toBe(0)
  })

  it('is of no account where nobody is', () => {
    const story = new TrackerStory()
    story.core.handle(
      { type: 'overlay', streamId: streamOfA, overlay: { strategy: 'topology-aware' } },
      story.now,
    )
    expect(story.core.streamParts.size).toBe(0)
  })
})
