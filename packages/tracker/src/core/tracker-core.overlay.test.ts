import type { OverlayChoice, StreamId } from '@runnel/protocol'
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

  it('may be a tree, with another degree, and the same again: nodes are told as soon as that changes', () => {
    const story = new TrackerStory()
    for (let n = 0; n < 40; n++) story.join(nodeId(n), partA)
    const topologyFor = (overlay: OverlayChoice) => {
      story.core.handle({ type: 'overlay', streamId: streamOfA, overlay }, story.now)
      const part = story.core.streamParts.get(partA)
      if (part === undefined) throw new Error('nobody is there')
      return part.topology
    }
    const degreesOf = (overlay: OverlayChoice) => {
      const topology = topologyFor(overlay)
      return [...topology.nodes()].map((id) => topology.neighbours(id).size)
    }
    expect(new Set(degreesOf({}))).toEqual(new Set([4]))
    expect(new Set(degreesOf({ degree: 6 }))).toEqual(new Set([6]))
    expect(Math.max(...degreesOf({ strategy: 'tree', degree: 3 }))).toBe(3)
    // The tracker's limit.
    expect(Math.max(...degreesOf({ degree: 64 }))).toBe(16)
    expect(new Set(degreesOf({}))).toEqual(new Set([4]))
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
