import { limits as wireLimits, type Contact, type NodeId, type Signal } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { defaultTrackerLimits } from '../limits.ts'
import {
  codes,
  findStorage,
  nodeId,
  partA,
  partB,
  statusOf,
  storing,
  TrackerStory,
  webrtcContact,
} from './tracker-core.testkit.ts'

const [store, other, asker] = [nodeId(1), nodeId(2), nodeId(50)]
const offer = (peerId: NodeId): Signal => ({
  type: 'signal',
  peerId,
  sessionId: 1,
  kind: 'offer',
  payload: 'sdp',
})

/** `stores` nodes in part A that store it, and one that is connected and in no stream part. */
function storyOf(stores: number, options: ConstructorParameters<typeof TrackerStory>[0] = {}): TrackerStory {
  const story = new TrackerStory(options)
  for (let n = 1; n <= stores; n++) {
    story.join(nodeId(n))
    story.packet(nodeId(n), storing(partA))
  }
  story.connect(asker)
  story.advance(1_000)
  return story
}

function answerTo(story: TrackerStory, from = asker, part = partA, requestId = 7) {
  const [effect, ...more] = story.packet(from, findStorage(part, requestId))
  if (effect?.type !== 'send' || effect.packet.type !== 'storageNodes' || more.length > 0) {
    throw new Error('no answer')
  }
  expect(effect).toMatchObject({ to: from, packet: { requestId, streamPartId: part } })
  return effect.packet.nodes
}
const found = (story: TrackerStory, from = asker, part = partA) =>
  answerTo(story, from, part).map(({ nodeId }) => nodeId)

describe('asking who stores a stream part', () => {
  it('is answered with the nodes that said so, and how they are reached', () => {
    const story = storyOf(2)
    story.join(nodeId(3))
    const nodes = [store, other].map((id) => ({ nodeId: id, contact: webrtcContact }))
    expect(answerTo(story).toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1))).toEqual(nodes)
    expect(found(story, store)).toEqual([other])
    expect(story.core.counters.get('storageQuestions')).toBe(2)
  })

  it('is answered with who has said so since it connected', () => {
    const story = storyOf(1)
    expect(found(story)).toEqual([store])
    story.connect(store)
    story.packet(store, statusOf(partA, 1))
    expect(found(story)).toEqual([])
    story.packet(store, storing(partA))
    story.packet(store, statusOf(partA, 1))
    expect(found(story)).toEqual([store])
  })

  it('is answered with nobody where nobody stores, or nobody is', () => {
    const story = storyOf(0)
    story.join(other)
    expect([found(story, asker, partA), found(story, asker, partB)]).toEqual([[], []])
  })

  it('leaves out those whom the asker has no way to reach', () => {
    const story = storyOf(1)
    const listening: Contact = { addresses: [{ kind: 'websocket', text: 'wss://h' }], dials: ['websocket'] }
    story.connect(nodeId(60), listening)
    story.packet(nodeId(60), statusOf(partA))
    story.packet(nodeId(60), storing(partA))
    story.connect(nodeId(61), { addresses: [], dials: ['websocket'] })
    expect(answerTo(story, nodeId(61))).toEqual([{ nodeId: nodeId(60), contact: listening }])
    story.connect(nodeId(62), { addresses: [{ kind: 'webrtc', text: '' }], dials: ['webrtc'] })
    expect(found(story, nodeId(62))).toEqual([store])
  })

  it('names a few of many, and others another time', () => {
    const story = storyOf(40)
    const seen = new Set<NodeId>()
    for (let round = 0; round < 50; round++) {
      const nodes = found(story)
      expect(new Set(nodes).size).toBe(wireLimits.maxStorageNodes)
      for (const id of nodes) seen.add(id)
    }
    expect(seen.size).toBe(40)
  })

  it('looks at so many nodes and no more', () => {
    const story = new TrackerStory()
    for (let n = 1; n <= 1_000; n++) {
      story.connect(nodeId(n), { addresses: [], dials: n === 1 ? ['webrtc'] : [] })
      story.packet(nodeId(n), statusOf(partA))
      story.packet(nodeId(n), storing(partA))
    }
    story.connect(nodeId(2_000), { addresses: [{ kind: 'webrtc', text: '' }], dials: ['webrtc'] })
    let times = 0
    for (let round = 0; round < 200; round++) times += found(story, nodeId(2_000)).length
    // One in a thousand, and 64 are looked at: about 13 times in 200.
    expect(times).toBeGreaterThan(0)
    expect(times).toBeLessThan(40)
  })

  it('takes an introduction first', () => {
    const story = new TrackerStory()
    story.core.handle({ type: 'nodeConnected', nodeId: asker }, 0)
    expect(codes(story.packet(asker, findStorage()))).toEqual(['NODE_INFO_MISSING'])
  })

  it('is answered only so often', () => {
    const story = storyOf(1, { limits: { storageQuestionBurst: 2, storageQuestionsPerSecond: 1 } })
    const outcome = [1, 2, 3].map(() => codes(story.packet(asker, findStorage())))
    expect(outcome).toEqual([[], [], ['STORAGE_RATE']])
    expect(story.core.counters.get('storageQuestionsRefused')).toBe(1)
    story.advance(1_000)
    expect(found(story)).toEqual([store])
  })
})

describe('a node that says it stores a stream part', () => {
  it('has to be in it', () => {
    const story = storyOf(1)
    expect(codes(story.packet(store, storing(partB)))).toEqual(['STORING_NOT_JOINED'])
    expect(codes(story.packet(asker, storing(partA)))).toEqual(['STORING_NOT_JOINED'])
    expect(found(story)).toEqual([store])
    expect(story.core.counters.get('storageOffersRefused')).toBe(2)
    expect(story.core.counters.get('storageOffers')).toBe(1)
  })

  it('is forgotten when it says no longer, leaves, disconnects, or connects anew', () => {
    const ends: readonly ((story: TrackerStory) => void)[] = [
      (story) => story.packet(store, storing(partA, false)),
      (story) => story.packet(store, { type: 'leave', streamPartId: partA }),
      (story) => story.disconnect(store),
      (story) => story.connect(store),
    ]
    for (const end of ends) {
      const story = storyOf(2)
      end(story)
      expect(found(story)).toEqual([other])
      expect(story.core.storage.count(partA)).toBe(1)
    }
  })

  it('may say so again, after it connected again too', () => {
    const story = storyOf(1)
    story.packet(store, storing(partA))
    expect(found(story)).toEqual([store])
    story.connect(store)
    story.packet(store, statusOf(partA, 1))
    story.packet(store, storing(partA))
    expect(found(story)).toEqual([store])
  })

  it('leaves nothing behind', () => {
    const story = storyOf(5)
    for (let n = 1; n <= 5; n++) story.disconnect(nodeId(n))
    story.disconnect(asker)
    story.advance(60_000)
    expect([...story.core.storage.nodes(partA)]).toEqual([])
    expect(story.core.dueMs).toBe(Infinity)
  })

  it('pays for saying so like for a status', () => {
    const story = storyOf(1, { limits: { statusBurst: 5, statusesPerSecond: 1 } })
    const outcome = Array.from({ length: 10 }, () => codes(story.packet(store, storing(partA))))
    expect(outcome.flat()).toEqual(['TOO_MANY_PACKETS'])
  })
})

describe('signals between a storage node and who asked for it', () => {
  const passes = (story: TrackerStory, from: NodeId, to: NodeId) =>
    story.packet(from, offer(to)).some((effect) => effect.type === 'send' && effect.to === to)

  it('pass both ways for a while, which asking again renews', () => {
    const story = storyOf(1)
    const { storagePermitMs } = defaultTrackerLimits
    expect(codes(story.packet(asker, offer(store)))).toEqual(['SIGNAL_NOT_ALLOWED'])
    expect(codes(story.packet(store, offer(asker)))).toEqual(['SIGNAL_NOT_ALLOWED'])
    found(story)
    expect(story.packet(asker, offer(store))).toEqual([{ type: 'send', to: store, packet: offer(asker) }])
    expect(story.packet(store, offer(asker))).toEqual([{ type: 'send', to: asker, packet: offer(store) }])
    story.advance(storagePermitMs - 1)
    found(story)
    story.advance(storagePermitMs - 1)
    expect([passes(story, asker, store), passes(story, store, asker)]).toEqual([true, true])
    story.advance(1)
    expect([passes(story, asker, store), passes(story, store, asker)]).toEqual([false, false])
  })

  it('pass to no other node of the stream part, nor between two who asked', () => {
    const story = storyOf(1)
    story.join(nodeId(3))
    story.connect(nodeId(51))
    for (const id of [asker, nodeId(51)]) found(story, id)
    expect(codes(story.packet(asker, offer(nodeId(3))))).toEqual(['SIGNAL_NOT_ALLOWED'])
    expect(codes(story.packet(asker, offer(nodeId(51))))).toEqual(['SIGNAL_NOT_ALLOWED'])
  })

  it('pass only to those who are there', () => {
    const story = storyOf(1)
    found(story)
    story.disconnect(store)
    expect(codes(story.packet(asker, offer(store)))).toEqual(['SIGNAL_TARGET_UNKNOWN'])
  })

  it('stop passing for the oldest pairs when there are too many', () => {
    const story = storyOf(1, { limits: { maxStoragePermits: 2 } })
    const askers = [asker, nodeId(51), nodeId(52)]
    for (const id of askers) {
      story.connect(id)
      found(story, id)
    }
    expect(askers.map((id) => passes(story, id, store))).toEqual([false, true, true])
    expect(story.core.counters.get('storagePermitsDropped')).toBe(1)
  })
})
