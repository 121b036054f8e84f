import {
  keyPartition,
  parseStreamPartId,
  toStreamPartId,
  type AccessToken,
  type ActingFor,
  type Membership,
  type NodeId,
} from '@runnel/protocol'
import { describe, expect, it, vi } from 'vitest'
import { defaultTrackerLimits } from '../limits.ts'
import type { RegistryQuestion } from './askers.ts'
import type { RegistryAnswers } from './roles.ts'
import { instructions, nodeId, partA, statusOf, storing, TrackerStory } from './tracker-core.testkit.ts'

const { streamId } = parseStreamPartId(partA)
const keyPart = toStreamPartId(streamId, keyPartition)
const feeds: Membership = { reads: false, token: undefined }
const stranger = nodeId(9)

/** Answers that a test changes; of users in neither set nothing is known. */
class Registry implements RegistryAnswers {
  readonly readers = new Map<NodeId, number>()
  readonly publishers = new Map<NodeId, boolean>()
  /** By their delegations; without an entry those say nothing. */
  readonly delegates = new Map<NodeId, number>()
  readonly unknownDelegates = new Set<NodeId>()
  /** In key parts. */
  readonly keyReaders = new Map<NodeId, number>()
  readsForMs = (scope: string, userId: NodeId, acting?: ActingFor) => {
    const forMs = (scope === keyPart ? this.keyReaders : this.readers).get(userId)
    if (this.unknownDelegates.has(acting?.delegation.delegateId ?? stranger)) return undefined
    return forMs === undefined ? undefined : Math.min(forMs, this.#delegatedForMs(acting))
  }
  mayPublish = (_: string, userId: NodeId, acting?: ActingFor) =>
    this.#delegatedForMs(acting) > 0 ? this.publishers.get(userId) : false
  #delegatedForMs = (acting?: ActingFor) =>
    this.delegates.get(acting?.delegation.delegateId ?? stranger) ?? Infinity
  membershipForMs = (_: AccessToken): number => Infinity
}

function storyOf(...members: number[]): { story: TrackerStory; registry: Registry } {
  const registry = new Registry()
  const story = new TrackerStory({ registry })
  for (const n of members) {
    registry.readers.set(nodeId(n), Infinity)
    story.join(nodeId(n))
  }
  return { story, registry }
}

const question = (userId: NodeId, changes: Partial<RegistryQuestion> = {}): RegistryQuestion => ({
  ...{ scope: streamId, userId, cause: userId, delegation: undefined },
  ...changes,
})
const resolved = (userId: NodeId, found = true, changes: Partial<RegistryQuestion> = {}) =>
  ({ type: 'userResolved', ...question(userId, changes), found }) as const
const asked = (userId: NodeId) => ({ type: 'resolve', ...question(userId) }) as const
const codes = (effects: ReturnType<TrackerStory['handle']>) =>
  effects.flatMap((effect) =>
    effect.type === 'send' && effect.packet.type === 'trackerError' ? [effect.packet.code] : [],
  )

describe('who may not read', () => {
  it('is put into no overlay, and is told', () => {
    const { story, registry } = storyOf(1, 2)
    registry.readers.set(stranger, 0)
    const effects = story.join(stranger)
    expect(codes(effects)).toEqual(['NOT_PERMITTED'])
    expect(instructions(effects)).toEqual([])
    expect([...(story.core.streamParts.get(partA)?.members.keys() ?? [])]).toEqual([nodeId(1), nodeId(2)])
    expect(story.core.counters.get('membersDenied')).toBe(1)
  })

  it('is in as soon as the registry says so here, though its own said so before', () => {
    const { story, registry } = storyOf(1, 2)
    registry.readers.set(stranger, 0)
    story.join(stranger)
    registry.readers.set(stranger, Infinity)
    story.handle({ type: 'permissionsChanged', streamId })
    expect(story.core.streamParts.get(partA)?.members.has(stranger)).toBe(true)
  })

  it('is taken out when its permission ends; many that end one by one are looked at together', () => {
    const { story, registry } = storyOf()
    const ids = Array.from({ length: 100 }, (_, i) => nodeId(i + 1))
    const answers = vi.spyOn(registry, 'readsForMs')
    answers.mockImplementation((_, id) => Math.max(0, 60_000 + ids.indexOf(id) - story.now))
    for (const id of ids) story.join(id)
    const isIn = () => ids.filter((id) => story.core.streamParts.get(partA)?.members.has(id)).length
    story.advance(59_999 - story.now)
    answers.mockClear()
    story.advance(50)
    expect(isIn()).toBe(99)
    story.advance(1_000)
    expect(isIn()).toBe(0)
    expect(answers.mock.calls.length).toBeLessThan(3 * ids.length)
  })

  it('makes no stream part', () => {
    const { story, registry } = storyOf()
    registry.readers.set(stranger, 0)
    story.join(stranger)
    expect(story.core.streamParts.size).toBe(0)
  })

  it('is taken out as soon as the registry says so, and its neighbours are told', () => {
    const { story, registry } = storyOf(1, 2, 3)
    story.advance(1_000)
    registry.readers.set(nodeId(2), 0)
    const effects = story.handle({ type: 'permissionsChanged', streamId })
    expect(codes(effects)).toEqual(['NOT_PERMITTED'])
    const told = instructions([...effects, ...story.advance(1_000)])
    expect(told.find(({ to }) => to === nodeId(1))?.neighbours).toEqual([nodeId(3)])
  })

  it('is in again as soon as the registry says so, also where it has nothing to report, and stores what it stored', () => {
    const { story, registry } = storyOf(1, 2)
    const alone = toStreamPartId(streamId, 1)
    for (const n of [1, 2]) story.packet(nodeId(n), statusOf(partA, 1, [nodeId(3 - n)]))
    story.packet(nodeId(1), statusOf(alone))
    story.packet(nodeId(1), storing(alone))
    const { counter } = instructions(story.effects).find(({ part }) => part === alone) ?? { counter: NaN }
    registry.readers.set(nodeId(1), 0)
    // The chain has taken back the block with its permission …
    story.handle({ type: 'permissionsChanged', streamId })
    expect(story.core.streamParts.has(alone)).toBe(false)
    registry.readers.set(nodeId(1), Infinity)
    // … and has it in the next one.
    const effects = [...story.handle({ type: 'permissionsChanged', streamId }), ...story.advance(1_000)]
    const told = instructions(effects).find(({ part }) => part === alone)
    expect(told).toMatchObject({ to: nodeId(1), neighbours: [] })
    expect(told?.counter).toBeGreaterThan(counter)
    expect([...story.core.storage.nodes(alone)]).toEqual([nodeId(1)])
    expect([...(story.core.streamParts.get(partA)?.topology.neighbours(nodeId(1)) ?? [])]).toEqual([
      nodeId(2),
    ])
  })

  it('is taken out when its time is over', () => {
    const { story, registry } = storyOf(1, 2)
    registry.readers.set(stranger, 60_000)
    story.join(stranger)
    story.advance(59_000)
    expect(story.core.streamParts.get(partA)?.members.has(stranger)).toBe(true)
    registry.readers.set(stranger, 0)
    expect(codes(story.advance(1_000))).toEqual(['NOT_PERMITTED'])
  })
})

describe('while the registry has not answered', () => {
  it('a newcomer waits, and is in as soon as it has', () => {
    const { story, registry } = storyOf(1, 2)
    const effects = story.join(stranger)
    expect(effects).toContainEqual(asked(stranger))
    expect(instructions(effects)).toEqual([])
    registry.readers.set(stranger, Infinity)
    const answered = [...story.handle(resolved(stranger)), ...story.advance(1_000)]
    expect(instructions(answered).map(({ to }) => to)).toContain(stranger)
  })

  it('a newcomer that stores the stream part meanwhile is found once it is in, unless it stores it no longer', () => {
    const { story, registry } = storyOf(1)
    const [keeper, former] = [nodeId(7), nodeId(8)]
    for (const id of [keeper, former]) {
      story.join(id)
      expect(codes(story.packet(id, storing(partA)))).toEqual([])
    }
    expect([...story.core.storage.nodes(partA)]).toEqual([])
    // It waits still, and says again what it is.
    story.packet(keeper, statusOf(partA, 1))
    story.packet(former, storing(partA, false))
    for (const id of [keeper, former]) {
      registry.readers.set(id, Infinity)
      story.handle(resolved(id))
    }
    expect(story.core.streamParts.get(partA)?.members.has(former)).toBe(true)
    expect([...story.core.storage.nodes(partA)]).toEqual([keeper])
  })

  it('who was in stays, also when the registry cannot be asked', () => {
    const { story, registry } = storyOf(1, 2, 3)
    registry.readers.clear()
    story.handle({ type: 'permissionsChanged', streamId })
    for (const n of [1, 2, 3]) story.handle(resolved(nodeId(n), false))
    story.packet(nodeId(1), statusOf(partA, 1, [nodeId(2), nodeId(3)]))
    expect(story.core.streamParts.get(partA)?.members.size).toBe(3)
  })

  it('a newcomer is told that nobody can say, and the registry is asked again', () => {
    const { story, registry } = storyOf(1)
    story.join(stranger)
    expect(codes(story.handle(resolved(stranger, false)))).toEqual(['REGISTRY_SILENT'])
    expect(story.advance(defaultTrackerLimits.registryRetryMs)).toContainEqual(asked(stranger))
    registry.readers.set(stranger, Infinity)
    story.handle(resolved(stranger))
    expect(story.core.streamParts.get(partA)?.members.has(stranger)).toBe(true)
  })

  it('who may be out since is asked for again until the registry answers', () => {
    const { story, registry } = storyOf(1, 2)
    registry.readers.delete(nodeId(2))
    story.handle({ type: 'permissionsChanged', streamId })
    story.handle(resolved(nodeId(2), false))
    registry.readers.set(nodeId(2), 0)
    expect(codes(story.advance(defaultTrackerLimits.registryRetryMs))).toEqual(['NOT_PERMITTED'])
  })

  it('a newcomer that was disconnected says anew what it joins: it may be with another tracker by now', () => {
    const { story, registry } = storyOf(1)
    story.join(stranger)
    story.packet(stranger, storing(partA))
    story.disconnect(stranger)
    story.connect(stranger)
    registry.readers.set(stranger, Infinity)
    story.handle(resolved(stranger))
    story.handle({ type: 'permissionsChanged', streamId })
    expect(story.core.streamParts.get(partA)?.members.has(stranger)).toBe(false)
    story.packet(stranger, statusOf(partA))
    expect(story.core.streamParts.get(partA)?.members.has(stranger)).toBe(true)
    expect(story.core.storage.count(partA)).toBe(0)
  })

  it('a newcomer is sent on to the tracker that leads from now on, and makes no second overlay', () => {
    const { story, registry } = storyOf()
    const leaderId = nodeId(50)
    story.join(stranger)
    expect(story.core.ledParts()).toEqual([partA])
    const effects = story.handle({ type: 'handOver', streamPartId: partA, leaderId })
    const redirect = { type: 'redirect', streamPartId: partA, leaderId }
    expect(effects).toEqual([{ type: 'send', to: stranger, packet: redirect }])
    expect(story.core.ledParts()).toEqual([])
    registry.readers.set(stranger, Infinity)
    story.handle(resolved(stranger))
    expect(story.core.streamParts.size).toBe(0)
  })

  it('a newcomer that has left does not come back when it answers', () => {
    const { story, registry } = storyOf(1, 2)
    story.join(stranger)
    story.packet(stranger, { type: 'leave', streamPartId: partA })
    registry.readers.set(stranger, Infinity)
    story.handle(resolved(stranger))
    expect(story.core.streamParts.get(partA)?.members.has(stranger)).toBe(false)
  })

  it('a feeder that says it reads is in no overlay yet', () => {
    const { story, registry } = storyOf(1, 2)
    registry.publishers.set(stranger, true)
    story.connect(stranger)
    story.packet(stranger, { ...statusOf(partA), membership: feeds })
    story.packet(stranger, statusOf(partA, 1))
    expect(story.core.streamParts.get(partA)?.members.has(stranger)).toBe(false)
  })

  it('those who wait are bounded, and the network with the most gives way', () => {
    const registry = new Registry()
    const story = new TrackerStory({ registry, limits: { maxWaitingStatuses: 4 } })
    story.connect(stranger, undefined, 'honest')
    for (let n = 20; n < 40; n++) {
      story.connect(nodeId(n), undefined, 'crowd')
      story.packet(nodeId(n), statusOf(partA))
    }
    story.packet(stranger, statusOf(partA))
    registry.readers.set(stranger, Infinity)
    story.handle(resolved(stranger, true, { cause: 'honest' }))
    expect([...(story.core.streamParts.get(partA)?.members.keys() ?? [])]).toEqual([stranger])
  })
})

describe('a node that acts for a user', () => {
  it('is what its user may be', () => {
    const { story, registry } = storyOf(1)
    const user = nodeId(77)
    registry.readers.set(user, Infinity)
    registry.readers.set(stranger, 0)
    const token = { userId: user, expiresMs: 1, signature: new Uint8Array(65) }
    story.connect(stranger)
    story.packet(stranger, { ...statusOf(partA), membership: { reads: true, token } })
    expect(story.core.streamParts.get(partA)?.members.has(stranger)).toBe(true)
  })

  it.each([true, false])(
    'is that no longer than its token says, unless it shows a newer one (reads: %s)',
    (reads) => {
      const { story, registry } = storyOf(1, 2)
      const user = nodeId(77)
      registry.readers.set(user, Infinity).set(stranger, 0)
      registry.publishers.set(user, true).set(stranger, false)
      registry.membershipForMs = ({ expiresMs }) => expiresMs - story.now
      const report = (expiresMs: number) => {
        const token = { userId: user, expiresMs, signature: new Uint8Array(65) }
        return story.packet(stranger, { ...statusOf(partA), membership: { reads, token } })
      }
      const isIn = () => {
        const part = story.core.streamParts.get(partA)
        return (part?.members.has(stranger) ?? false) || (part?.feeds.has(stranger) ?? false)
      }
      story.connect(stranger)
      report(60_000)
      report(90_000)
      story.advance(89_000 - story.now)
      expect(isIn()).toBe(true)
      story.effects.length = 0
      story.advance(2_000)
      expect(isIn()).toBe(false)
      expect(codes(story.effects)).toEqual(['NOT_PERMITTED'])
      expect(codes(report(90_000))).toEqual(['NOT_PERMITTED'])
      report(story.now + 60_000)
      expect(isIn()).toBe(true)
    },
  )
})

describe('a feeder', () => {
  const join = (story: TrackerStory, registry: Registry) => {
    registry.publishers.set(stranger, true)
    story.connect(stranger)
    return instructions(story.packet(stranger, { ...statusOf(partA), membership: feeds }))
  }

  it('is told members of the overlay, and is in no overlay', () => {
    const { story, registry } = storyOf(1, 2, 3, 4, 5, 6)
    story.advance(1_000)
    const told = join(story, registry)
    expect(told).toMatchObject([{ to: stranger, counter: 1 }])
    expect(new Set(told[0]?.neighbours).size).toBe(4)
    const part = story.core.streamParts.get(partA)
    expect(part?.topology.has(stranger)).toBe(false)
    expect(part?.members.has(stranger)).toBe(false)
    const host = told[0]?.neighbours[0] as NodeId
    const signal = { type: 'signal', peerId: host, sessionId: 1, kind: 'offer', payload: '' } as const
    const effects = story.packet(stranger, signal)
    expect(effects).toMatchObject([{ type: 'send', to: host, packet: { type: 'signal' } }])
  })

  it('is told others for members that are gone, or that it cannot reach', () => {
    const { story, registry } = storyOf(1, 2, 3, 4, 5, 6)
    story.advance(1_000)
    const [first, second] = join(story, registry)[0]?.neighbours ?? []
    story.packet(first as NodeId, { type: 'leave', streamPartId: partA })
    const afterLeave = instructions(story.advance(1_000)).filter(({ to }) => to === stranger)
    expect(afterLeave.at(-1)?.neighbours).not.toContain(first)
    expect(afterLeave.at(-1)?.neighbours.length).toBe(4)
    const failed = [{ nodeId: second as NodeId, reason: 'unreachable' as const }]
    const counter = afterLeave.at(-1)?.counter ?? 0
    const report = { ...statusOf(partA, counter, [], failed), membership: feeds }
    const effects = [...story.packet(stranger, report), ...story.advance(1_000)]
    const afterFailure = instructions(effects).filter(({ to }) => to === stranger)
    expect(afterFailure.length).toBe(1)
    expect(afterFailure.at(-1)?.neighbours).not.toContain(second)
  })

  it('feeds on while the registry here does not say yet that it may read', () => {
    const { story, registry } = storyOf(1, 2)
    join(story, registry)
    registry.readers.set(stranger, 0)
    expect(codes(story.packet(stranger, statusOf(partA, 1)))).toEqual([])
    const part = story.core.streamParts.get(partA)
    expect(part?.feeds.has(stranger)).toBe(true)
    registry.readers.set(stranger, Infinity)
    story.handle({ type: 'permissionsChanged', streamId })
    expect([part?.members.has(stranger), part?.feeds.has(stranger)]).toEqual([true, false])
  })

  it('that cannot reach its only host is told it again', () => {
    const { story, registry } = storyOf(1)
    join(story, registry)
    const failed = [{ nodeId: nodeId(1), reason: 'unreachable' as const }]
    const report = { ...statusOf(partA, 1, [], failed), membership: feeds }
    const effects = [...story.packet(stranger, report), ...story.advance(1_000)]
    const told = instructions(effects).filter(({ to }) => to === stranger)
    expect(told.at(-1)).toMatchObject({ counter: 2, neighbours: [nodeId(1)] })
  })

  it('is not told again for a status that was under way', () => {
    const { story, registry } = storyOf(1, 2, 3, 4, 5)
    join(story, registry)
    story.advance(1_000)
    const late = { ...statusOf(partA, 0), membership: feeds }
    expect(instructions([...story.packet(stranger, late), ...story.advance(1_000)])).toEqual([])
  })

  it('that comes first is told who comes', () => {
    const { story, registry } = storyOf()
    join(story, registry)
    registry.readers.set(nodeId(1), Infinity)
    const effects = [...story.join(nodeId(1)), ...story.advance(1_000)]
    const told = instructions(effects).filter(({ to }) => to === stranger)
    expect(told.at(-1)?.neighbours).toEqual([nodeId(1)])
  })

  it('keeps the stream part until it is gone, and leaves nothing behind', () => {
    const { story, registry } = storyOf()
    join(story, registry)
    expect(story.core.streamParts.size).toBe(1)
    story.packet(stranger, { type: 'leave', streamPartId: partA })
    expect(story.core.streamParts.size).toBe(0)
  })

  it('who may not publish either is refused', () => {
    const { story, registry } = storyOf(1)
    registry.publishers.set(stranger, false)
    story.connect(stranger)
    const effects = story.packet(stranger, { ...statusOf(partA), membership: feeds })
    expect(codes(effects)).toEqual(['NOT_PERMITTED'])
  })

  it('becomes a member, and back', () => {
    const { story, registry } = storyOf(1, 2)
    join(story, registry)
    registry.readers.set(stranger, Infinity)
    story.packet(stranger, statusOf(partA, 1))
    const part = story.core.streamParts.get(partA)
    expect([part?.members.has(stranger), part?.feeds.has(stranger)]).toEqual([true, false])
    story.packet(stranger, { ...statusOf(partA, 2), membership: feeds })
    expect([part?.members.has(stranger), part?.feeds.has(stranger)]).toEqual([false, true])
  })

  it('is sent to the tracker that leads from now on', () => {
    const { story, registry } = storyOf(1, 2)
    join(story, registry)
    const leaderId = nodeId(99)
    const effects = story.handle({ type: 'handOver', streamPartId: partA, leaderId })
    expect(effects).toContainEqual({
      ...{ type: 'send', to: stranger },
      packet: { type: 'redirect', streamPartId: partA, leaderId },
    })
  })
})

describe('very many feeders of few members', () => {
  const feeders = Array.from({ length: 1_000 }, (_, n) => nodeId(1_000 + n))
  const hostile = nodeId(2)

  function crowd(): TrackerStory {
    const { story, registry } = storyOf(1)
    registry.readers.set(hostile, Infinity)
    for (const id of feeders) {
      registry.publishers.set(id, true)
      story.connect(id)
      story.packet(id, { ...statusOf(partA), membership: feeds })
    }
    story.advance(10_000)
    story.effects.length = 0
    return story
  }

  it('are each told of a member that comes', () => {
    const story = crowd()
    story.join(hostile)
    story.advance(1_000)
    const told = instructions(story.effects).filter(({ to }) => to !== hostile && to !== nodeId(1))
    expect(new Set(told.map(({ to }) => to)).size).toBe(feeders.length)
    expect(told.every(({ neighbours }) => neighbours.length === 2)).toBe(true)
  })

  it('are not all told each time one comes and goes', () => {
    const story = crowd()
    story.connect(hostile)
    for (let n = 0; n < 50; n++) {
      story.packet(hostile, statusOf(partA, n))
      story.advance(10)
      story.packet(hostile, { type: 'leave', streamPartId: partA })
      story.advance(10)
    }
    expect(instructions(story.effects).length).toBeLessThan(6 * feeders.length)
  })
})

describe('a node that acts for a user by delegation', () => {
  const user = nodeId(7)
  const node = nodeId(8)
  const acting = (until = 60_000): ActingFor => ({
    userId: user,
    untilMs: until,
    isKeySigned: true,
    delegation: {
      ...{ chainId: 0, userId: user, delegateId: node, fromMs: 0, untilMs: until, publishes: true },
      ...{ reads: true, streams: [], requester: '', block: 0, signature: new Uint8Array(65) },
    },
  })
  const isIn = (story: TrackerStory): boolean | undefined =>
    story.core.streamParts.get(partA)?.members.has(node)

  it('takes part by what its user may, and the registry is asked about both', () => {
    const { story, registry } = storyOf(1, 2)
    story.connect(node)
    story.handle({ type: 'nodeConnected', nodeId: node, actingFor: acting() })
    const effects = story.packet(node, statusOf(partA))
    const { delegation } = acting()
    expect(effects).toContainEqual({
      type: 'resolve',
      scope: streamId,
      userId: user,
      cause: node,
      delegation,
    })
    registry.readers.set(user, Infinity)
    story.handle(resolved(user, true, { cause: node, delegation }))
    expect(isIn(story)).toBe(true)
  })

  it('is looked at when the answer is about it, and not with each of its user’s many', () => {
    const { story, registry } = storyOf()
    const answers = vi.spyOn(registry, 'readsForMs')
    const count = 200
    registry.readers.set(user, Infinity)
    for (let n = 1_000; n < 1_000 + count; n++) {
      const id = nodeId(n)
      const { delegation } = acting()
      const own = { ...delegation, delegateId: id }
      registry.unknownDelegates.add(id)
      story.connect(id)
      story.handle({ type: 'nodeConnected', nodeId: id, actingFor: { ...acting(), delegation: own } })
      story.packet(id, statusOf(partA))
      registry.unknownDelegates.delete(id)
      story.handle(resolved(user, true, { cause: id, delegation: own }))
    }
    expect(story.core.streamParts.get(partA)?.members.size).toBe(count)
    expect(answers.mock.calls.length).toBeLessThanOrEqual(5 * count)
  })

  it('does so by nobody else, whatever its status says', () => {
    const { story, registry } = storyOf(1, 2)
    registry.readers.set(user, 0).set(nodeId(1), Infinity)
    story.connect(node)
    story.handle({ type: 'nodeConnected', nodeId: node, actingFor: acting() })
    const token = { userId: nodeId(1), expiresMs: 1e12, signature: new Uint8Array(65) }
    const effects = story.packet(node, { ...statusOf(partA), membership: { reads: true, token } })
    expect(codes(effects)).toEqual(['NOT_PERMITTED'])
  })

  it('is taken out when its delegation ends, or was taken back, but not when it was renewed', () => {
    const { story, registry } = storyOf(1, 2)
    registry.readers.set(user, Infinity)
    registry.delegates.set(node, 60_000)
    story.connect(node)
    story.handle({ type: 'nodeConnected', nodeId: node, actingFor: acting() })
    story.packet(node, statusOf(partA))
    story.handle({ type: 'credentialRenewed', nodeId: node, actingFor: acting(120_000) })
    registry.delegates.set(node, 90_000)
    story.advance(61_000)
    expect(isIn(story)).toBe(true)
    registry.delegates.set(node, 0)
    story.handle({ type: 'permissionsChanged', streamId: undefined })
    expect(isIn(story)).toBe(false)
  })
})

describe('the key part', () => {
  it('has its own readers: publishers are in it as members, whoever may not read the stream', () => {
    const { story, registry } = storyOf(1)
    registry.readers.set(stranger, 0)
    for (const id of [nodeId(1), stranger]) registry.keyReaders.set(id, Infinity)
    story.join(nodeId(1), keyPart)
    const effects = [...story.join(stranger, keyPart), ...story.advance(1_000)]
    expect(instructions(effects).map(({ to }) => to)).toContain(stranger)
    expect([...(story.core.streamParts.get(keyPart)?.members.keys() ?? [])]).toEqual([nodeId(1), stranger])
    expect(codes(story.packet(stranger, statusOf(partA)))).toEqual(['NOT_PERMITTED'])
    registry.keyReaders.set(stranger, 0)
    expect(codes(story.handle({ type: 'permissionsChanged', streamId }))).toContain('NOT_PERMITTED')
    expect(story.core.streamParts.get(keyPart)?.members.has(stranger)).toBe(false)
  })

  it('has no feeders', () => {
    const { story, registry } = storyOf(1)
    registry.publishers.set(stranger, true)
    registry.keyReaders.set(stranger, Infinity)
    story.connect(stranger)
    const effects = story.packet(stranger, { ...statusOf(keyPart), membership: feeds })
    expect(codes(effects)).toEqual(['NOT_PERMITTED'])
  })

  it('is asked about apart from the stream', () => {
    const { story, registry } = storyOf(1)
    expect(story.join(stranger)).toContainEqual(asked(stranger))
    const ofKeys = { ...asked(stranger), scope: keyPart }
    expect(story.packet(stranger, statusOf(keyPart))).toContainEqual(ofKeys)
    registry.readers.set(stranger, Infinity)
    registry.keyReaders.set(stranger, Infinity)
    const isIn = (): boolean[] =>
      [partA, keyPart].map((id) => story.core.streamParts.get(id)?.members.has(stranger) ?? false)
    story.handle(resolved(stranger))
    expect(isIn()).toEqual([true, false])
    story.handle(resolved(stranger, true, { scope: keyPart }))
    expect(isIn()).toEqual([true, true])
    registry.readers.set(stranger, 0)
    registry.keyReaders.delete(stranger)
    story.handle({ type: 'permissionsChanged', streamId })
    registry.keyReaders.set(stranger, 0)
    story.handle(resolved(stranger))
    expect(isIn()).toEqual([false, true])
    story.handle(resolved(stranger, true, { scope: keyPart }))
    expect(isIn()).toEqual([false, false])
  })
})
