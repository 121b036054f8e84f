import { describe, expect, it } from 'vitest'
import { askCount, codes, nodeId, partA, partB, statusOf, TrackerStory } from './tracker-core.testkit.ts'

const [member, feeder, stranger] = [nodeId(1), nodeId(50), nodeId(51)]
const publishesOnly = { ...statusOf(partA), membership: { reads: false, token: undefined } }

/** Three readers and a feeder in part A, and a node that is elsewhere. */
function storyOf(limits: ConstructorParameters<typeof TrackerStory>[0] = {}): TrackerStory {
  const story = new TrackerStory(limits)
  for (let n = 1; n <= 3; n++) story.join(nodeId(n))
  story.connect(feeder)
  story.packet(feeder, publishesOnly)
  story.join(stranger, partB)
  return story
}

const countFor = (story: TrackerStory, from = member, part = partA) =>
  story
    .packet(from, askCount(part, 7))
    .flatMap((effect) => (effect.type === 'send' && effect.to === from ? [effect.packet] : []))

describe('asking how many nodes are in a stream part', () => {
  it('is answered to who reads or publishes there', () => {
    const story = storyOf()
    const count = { type: 'count', requestId: 7, readers: 3, feeders: 1 }
    expect([member, feeder].map((from) => countFor(story, from))).toEqual([[count], [count]])
    expect(countFor(story, stranger, partB)).toEqual([{ ...count, readers: 1, feeders: 0 }])
    expect(story.core.counters.get('countQuestions')).toBe(3)
  })

  it('is answered without those who have left, and lost their connection a while ago', () => {
    const story = storyOf()
    story.packet(nodeId(2), { type: 'leave', streamPartId: partA })
    story.disconnect(nodeId(3))
    story.disconnect(feeder)
    expect(countFor(story)).toMatchObject([{ readers: 2, feeders: 1 }])
    story.advance(10_000)
    expect(countFor(story)).toMatchObject([{ readers: 1, feeders: 0 }])
  })

  it('is not answered to others', () => {
    const story = storyOf()
    expect(codes(story.packet(stranger, askCount()))).toEqual(['COUNT_NOT_JOINED'])
    story.packet(member, { type: 'leave', streamPartId: partA })
    expect(codes(story.packet(member, askCount()))).toEqual(['COUNT_NOT_JOINED'])
    expect(story.core.counters.get('countQuestionsRefused')).toBe(2)
  })

  it('is answered only so often', () => {
    const story = storyOf({ limits: { countQuestionBurst: 2, countQuestionsPerSecond: 1 } })
    const outcome = [1, 2, 3].map(() => codes(story.packet(member, askCount())))
    expect(outcome).toEqual([[], [], ['COUNT_RATE']])
    expect(story.core.counters.get('countQuestionsRefused')).toBe(1)
    expect(countFor(story, nodeId(2))).toHaveLength(1)
    story.advance(1_000)
    expect(countFor(story)).toMatchObject([{ readers: 3 }])
  })
})
