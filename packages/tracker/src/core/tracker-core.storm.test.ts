import { describe, expect, it } from 'vitest'
import { instructions, nodeId, partA, statusOf, TrackerStory } from './tracker-core.testkit.ts'

describe('a storm of joins', () => {
  for (const [name, gapMs] of [
    ['one at a time', 60],
    ['as a burst', 0.2],
  ] as const) {
    it(`of 5,000 nodes ${name} takes at most 6 instructions each`, () => {
      const story = new TrackerStory()
      const joins = 5_000
      for (let n = 1; n <= joins; n++) {
        const told = instructions([...story.join(nodeId(n)), ...story.advance(gapMs)])
        for (const { to, counter } of told) story.packet(to, statusOf(partA, counter))
      }
      story.advance(1_000)
      const { core } = story
      expect(core.counters.get('instructions')).toBeLessThanOrEqual(6 * joins)
      expect(core.streamParts.get(partA)?.topology.edgeCount).toBe(2 * joins)
      const told = new Map(instructions(story.effects).map((each) => [each.to, each.neighbours]))
      for (const [id, member] of core.streamParts.get(partA)?.members ?? []) {
        expect(new Set(told.get(id))).toEqual(core.streamParts.get(partA)?.topology.neighbours(member.nodeId))
      }
    })
  }

  it('answers a lone join at once, and gathers those that follow', () => {
    const story = new TrackerStory()
    for (let n = 1; n <= 20; n++) {
      story.join(nodeId(n))
      story.advance(1_000)
    }
    expect(instructions(story.join(nodeId(21))).length).toBe(5)
    expect(story.join(nodeId(22))).toEqual([])
    expect(story.join(nodeId(23))).toEqual([])
    const gathered = instructions(story.advance(50)).map(({ to }) => to)
    expect(gathered).toContain(nodeId(22))
    expect(gathered).toContain(nodeId(23))
    expect(new Set(gathered).size).toBe(gathered.length)
  })
})
