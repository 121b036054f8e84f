import { toStreamId, type NodeId, type StreamId } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { nodeId } from '../core/tracker-core.testkit.ts'
import { defaultClusterLimits } from './limits.ts'
import { OwnTrackers } from './own-trackers.ts'

const streamId = toStreamId(`0x${'ab'.repeat(20)}/own`)
const [one, other] = [nodeId(101), nodeId(102)]
const turn = () => new Promise(setImmediate)

/** A registry that answers when the test says so. */
async function setUp() {
  const clock = new VirtualClock()
  const known: StreamId[] = []
  const questions: PromiseWithResolvers<readonly NodeId[]>[] = []
  const own = new OwnTrackers(defaultClusterLimits, {
    clock,
    lookUp: () => {
      const question = Promise.withResolvers<readonly NodeId[]>()
      questions.push(question)
      return question.promise
    },
    onKnown: (id) => known.push(id),
    count: () => {},
  })
  const answer = async (trackers: readonly NodeId[]) => {
    questions.shift()?.resolve(trackers)
    await turn()
  }
  own.of(streamId)
  await answer([one])
  clock.advanceBy(1)
  known.length = 0
  return { clock, known, questions, own, answer }
}

describe('the trackers that a stream names', () => {
  it('are asked for again at once when they may have changed', async () => {
    const { own, known, questions, answer } = await setUp()
    expect(own.of(streamId)).toEqual([one])
    own.changed(streamId)
    expect(questions).toHaveLength(1)
    expect(own.of(streamId)).toEqual([one])
    await answer([other])
    expect(known).toEqual([streamId])
    expect(own.of(streamId)).toEqual([other])
    expect(questions).toEqual([])
  })

  it('are asked for with the next question when those of any stream may have', async () => {
    const { own, clock, questions, answer } = await setUp()
    own.changed(undefined)
    expect(questions).toEqual([])
    expect(own.of(streamId)).toEqual([one])
    clock.advanceBy(1)
    await answer([other])
    expect(own.of(streamId)).toEqual([other])
  })

  it('stay what they are while nobody can say, and are asked for only where they are of use', async () => {
    const { own, known, questions } = await setUp()
    own.changed(toStreamId(`0x${'ab'.repeat(20)}/unheard-of`))
    expect(questions).toEqual([])
    own.changed(streamId)
    questions.shift()?.reject(new Error('the chain is away'))
    await turn()
    expect([own.of(streamId), known]).toEqual([[one], []])
  })
})
