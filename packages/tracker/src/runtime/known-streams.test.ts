import { toStreamPartId, type OverlayChoice, type StreamId, type StreamPartId } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { codes, nodeId, partA, partB, statusOf, storing, TrackerStory } from '../core/tracker-core.testkit.ts'
import { KnownStreams, type StreamFacts } from './known-streams.ts'

const [streamOfA, streamOfB] = [partA, partB].map((id) => id.slice(0, id.indexOf('#')) as StreamId)

const another = toStreamPartId(streamOfA as StreamId, 1)
const retryMs = 5_000

const random = { strategy: 'random' } as const
const aware = { strategy: 'topology-aware' } as const

/** Owners who answer when the test says so. */
function setUp() {
  const story = new TrackerStory()
  const clock = new VirtualClock()
  const chosen: [StreamId, OverlayChoice | undefined][] = []
  const questions: { streamId: StreamId; settle: PromiseWithResolvers<StreamFacts | undefined> }[] = []
  let changed: (streamId: StreamId | undefined) => void = () => {}
  const overlays = new KnownStreams({
    ...{ core: story.core, clock, retryMs },
    chosen: (streamId, overlay) => chosen.push([streamId, overlay]),
    missing: (streamId) => story.handle({ type: 'streamMissing', streamId }),
    changed: (streamId) => story.handle({ type: 'streamsChanged', streamId }),
    source: {
      factsOf: (streamId) => {
        const settle = Promise.withResolvers<StreamFacts | undefined>()
        questions.push({ streamId, settle })
        return settle.promise
      },
      onChange: (listener) => {
        changed = listener
        return () => (changed = () => {})
      },
    },
  })
  overlays.start()
  const answer = async (overlay: OverlayChoice | undefined) => {
    questions.shift()?.settle.resolve({ overlay })
    await new Promise(setImmediate)
  }
  const deny = async () => {
    questions.shift()?.settle.resolve(undefined)
    await new Promise(setImmediate)
  }
  return { story, clock, overlays, deny, chosen, questions, answer, changed: (id?: StreamId) => changed(id) }
}

describe('the choices of owners', () => {
  it('are asked for when the first node comes, and again when they may have changed', async () => {
    const { story, chosen, questions, answer, changed } = setUp()
    story.join(nodeId(1), partA)
    story.join(nodeId(2), partA)
    expect(questions.map(({ streamId }) => streamId)).toEqual([streamOfA])
    await answer(aware)
    story.join(nodeId(3), partB)
    await answer(undefined)
    expect(chosen).toEqual([
      [streamOfA, aware],
      [streamOfB, undefined],
    ])
    changed(streamOfB)
    expect(questions.map(({ streamId }) => streamId)).toEqual([streamOfB])
    await answer(random)
    changed()
    expect(questions.map(({ streamId }) => streamId)).toEqual([streamOfA, streamOfB])
  })

  it('are asked for once more when they change while they are asked for', async () => {
    const { story, chosen, questions, answer, changed } = setUp()
    story.join(nodeId(1), partA)
    changed(streamOfA)
    expect(questions).toHaveLength(1)
    await answer(random)
    expect(questions).toHaveLength(1)
    await answer(aware)
    expect(chosen).toEqual([[streamOfA, aware]])
  })

  it('stay what they are when nobody can say, which is counted', async () => {
    const { story, chosen, questions } = setUp()
    story.join(nodeId(1), partA)
    questions.shift()?.settle.reject(new Error('the chain is away'))
    await new Promise(setImmediate)
    expect(chosen).toEqual([])
    expect(story.core.counters.get('streamLookupsFailed')).toBe(1)
  })

  it('are asked for again after a while when nobody could say, of what is still served', async () => {
    const { story, chosen, questions, answer, clock } = setUp()
    story.join(nodeId(1), partA)
    story.join(nodeId(2), partB)
    for (const { settle } of questions.splice(0)) settle.reject(new Error('the chain is away'))
    await new Promise(setImmediate)
    story.packet(nodeId(2), { type: 'leave', streamPartId: partB })
    clock.advanceBy(retryMs - 1)
    expect(questions).toEqual([])
    clock.advanceBy(1)
    expect(questions.map(({ streamId }) => streamId)).toEqual([streamOfA])
    await answer(aware)
    expect(chosen).toEqual([[streamOfA, aware]])
    clock.advanceBy(10 * retryMs)
    expect(questions).toEqual([])
  })

  it('are no longer asked for, nor heard, after the stop', async () => {
    const { story, overlays, chosen, questions, answer } = setUp()
    story.join(nodeId(1), partA)
    overlays.stop()
    await answer(aware)
    story.join(nodeId(2), partB)
    expect([chosen, questions]).toEqual([[], []])
  })
})

describe('a stream that the registry does not have', () => {
  it('is given up, and its nodes are told; for a while nobody joins it, and nobody asks', async () => {
    const { story, questions, deny } = setUp()
    for (const n of [1, 2]) story.join(nodeId(n), partA)
    story.join(nodeId(3), partB)
    await deny()
    expect([...story.core.streamParts.keys()]).toEqual([partB])
    expect(codes(story.effects)).toEqual(['STREAM_UNKNOWN', 'STREAM_UNKNOWN'])
    expect(codes(story.packet(nodeId(2), statusOf(partA)))).toEqual(['STREAM_UNKNOWN'])
    expect(questions.map(({ streamId }) => streamId)).toEqual([streamOfB])
    expect(story.core.counters.get('streamsMissing')).toBe(2)
    story.advance(60_000)
    expect(codes(story.packet(nodeId(2), statusOf(partA)))).toEqual([])
    expect(questions.map(({ streamId }) => streamId)).toEqual([streamOfB, streamOfA])
  })

  it('can be joined as soon as it is made', async () => {
    const { story, deny, answer, changed } = setUp()
    story.join(nodeId(1), partA)
    await deny()
    changed(streamOfA)
    story.packet(nodeId(1), statusOf(partA))
    await answer(undefined)
    expect([...story.core.streamParts.keys()]).toEqual([partA])
  })

  it('has its nodes again as soon as it is back, as after a chain took back its block: they report nothing new', async () => {
    const { story, deny, answer, changed } = setUp()
    for (const n of [1, 2]) story.join(nodeId(n), partA)
    await answer(undefined)
    for (const n of [1, 2]) story.packet(nodeId(n), statusOf(partA, 1, [nodeId(3 - n)]))
    story.packet(nodeId(1), storing(partA))
    changed(streamOfA)
    await deny()
    story.join(nodeId(3), partA)
    expect(story.core.streamParts.size).toBe(0)
    changed(streamOfA)
    await answer(undefined)
    const part = story.core.streamParts.get(partA)
    expect([...(part?.members.keys() ?? [])]).toEqual([1, 2, 3].map(nodeId))
    expect(part?.topology.hasEdge(nodeId(1), nodeId(2))).toBe(true)
    expect([...story.core.storage.nodes(partA)]).toEqual([nodeId(1)])
  })

  it('has them again with the first that joins, where the registry only seemed not to have it', async () => {
    const { story, deny, answer } = setUp()
    for (const n of [1, 2]) story.join(nodeId(n), partA)
    for (const n of [1, 2]) story.packet(nodeId(n), statusOf(another))
    await deny()
    // In something else, so that they stay connected.
    for (const n of [1, 2]) story.packet(nodeId(n), statusOf(partB))
    story.advance(60_000)
    story.join(nodeId(3), partA)
    await answer(undefined)
    const inPart = (id: StreamPartId) => [...(story.core.streamParts.get(id)?.members.keys() ?? [])].sort()
    expect(inPart(partA)).toEqual([1, 2, 3].map(nodeId))
    expect(inPart(another)).toEqual([1, 2].map(nodeId))
  })

  it('does not get back who has left meanwhile', async () => {
    const { story, deny, answer, changed } = setUp()
    story.join(nodeId(1), partA)
    await deny()
    story.packet(nodeId(1), { type: 'leave', streamPartId: partA })
    changed(streamOfA)
    await answer(undefined)
    expect(story.core.streamParts.size).toBe(0)
  })

  it('is given up when it is deleted, and kept while nobody can say', async () => {
    const { story, questions, deny, answer, changed } = setUp()
    story.join(nodeId(1), partA)
    await answer(undefined)
    changed()
    questions.shift()?.settle.reject(new Error('the chain is away'))
    await new Promise(setImmediate)
    expect(story.core.streamParts.size).toBe(1)
    changed(streamOfA)
    await deny()
    expect(story.core.streamParts.size).toBe(0)
  })

  it('is not remembered beyond a limit, the oldest first', async () => {
    const story = new TrackerStory({ limits: { maxMissingStreams: 1 } })
    for (const streamId of [streamOfA, streamOfB] as StreamId[])
      story.handle({ type: 'streamMissing', streamId })
    expect(codes(story.join(nodeId(1), partA))).toEqual([])
    expect(codes(story.join(nodeId(2), partB))).toEqual(['STREAM_UNKNOWN'])
  })
})
