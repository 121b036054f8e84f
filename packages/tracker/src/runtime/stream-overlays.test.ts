import type { StreamId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import type { OverlayPolicy } from '../core/stream-part.ts'
import { nodeId, partA, partB, TrackerStory } from '../core/tracker-core.testkit.ts'
import { StreamOverlays } from './stream-overlays.ts'

const [streamOfA, streamOfB] = [partA, partB].map((id) => id.slice(0, id.indexOf('#')) as StreamId)

/** Owners who answer when the test says so. */
function setUp() {
  const story = new TrackerStory()
  const chosen: (string | undefined)[][] = []
  const questions: { streamId: StreamId; settle: PromiseWithResolvers<OverlayPolicy | undefined> }[] = []
  let changed: (streamId: StreamId | undefined) => void = () => {}
  const overlays = new StreamOverlays({
    core: story.core,
    chosen: (streamId, overlay) => chosen.push([streamId, overlay]),
    source: {
      overlayOf: (streamId) => {
        const settle = Promise.withResolvers<OverlayPolicy | undefined>()
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
  const answer = async (overlay: OverlayPolicy | undefined) => {
    questions.shift()?.settle.resolve(overlay)
    await new Promise(setImmediate)
  }
  return { story, overlays, chosen, questions, answer, changed: (id?: StreamId) => changed(id) }
}

describe('the choices of owners', () => {
  it('are asked for when the first node comes, and again when they may have changed', async () => {
    const { story, chosen, questions, answer, changed } = setUp()
    story.join(nodeId(1), partA)
    story.join(nodeId(2), partA)
    expect(questions.map(({ streamId }) => streamId)).toEqual([streamOfA])
    await answer('topology-aware')
    story.join(nodeId(3), partB)
    await answer(undefined)
    expect(chosen).toEqual([
      [streamOfA, 'topology-aware'],
      [streamOfB, undefined],
    ])
    changed(streamOfB)
    expect(questions.map(({ streamId }) => streamId)).toEqual([streamOfB])
    await answer('random')
    changed()
    expect(questions.map(({ streamId }) => streamId)).toEqual([streamOfA, streamOfB])
  })

  it('are asked for once more when they change while they are asked for', async () => {
    const { story, chosen, questions, answer, changed } = setUp()
    story.join(nodeId(1), partA)
    changed(streamOfA)
    expect(questions).toHaveLength(1)
    await answer('random')
    expect(questions).toHaveLength(1)
    await answer('topology-aware')
    expect(chosen.at(-1)).toEqual([streamOfA, 'topology-aware'])
  })

  it('stay what they are when nobody can say, which is counted', async () => {
    const { story, chosen, questions } = setUp()
    story.join(nodeId(1), partA)
    questions.shift()?.settle.reject(new Error('the chain is away'))
    await new Promise(setImmediate)
    expect(chosen).toEqual([])
    expect(story.core.counters.get('overlayLookupsFailed')).toBe(1)
  })

  it('are no longer asked for, nor heard, after the stop', async () => {
    const { story, overlays, chosen, questions, answer } = setUp()
    story.join(nodeId(1), partA)
    overlays.stop()
    await answer('topology-aware')
    story.join(nodeId(2), partB)
    expect([chosen, questions]).toEqual([[], []])
  })
})
