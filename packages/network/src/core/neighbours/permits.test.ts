import { signMembership, type AccessToken, type NodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { networkLimits } from '../../limits.ts'
import {
  attach,
  batchAt,
  control,
  CoreScript,
  crypto,
  data,
  identityOf,
  idOf,
  instruct,
  join,
  opened,
  partId,
  publish,
  startMs,
  streamId,
} from '../core.testkit.ts'
import type { OverlayEvent } from '../events.ts'

const stranger = idOf(9)
const resolved = (userId: NodeId, found = true): OverlayEvent => ({
  type: 'readerResolved',
  scope: streamId,
  userId,
  found,
})
const changed: OverlayEvent = { type: 'permissionsChanged', streamId }
const asked = (peer: number, membership?: { reads: boolean; token: AccessToken | undefined }): OverlayEvent =>
  control(peer, {
    type: 'attach',
    streamPartId: partId,
    sinceMs: 0,
    heads: [],
    ...(membership === undefined ? {} : { membership }),
  })
const feeds = (peer: number, token?: AccessToken): OverlayEvent => asked(peer, { reads: false, token })

describe('a feeder', () => {
  it('dials its hosts itself, as they are not told of it', () => {
    const script = new CoreScript()
    script.run({ type: 'join', streamPartId: partId, fillGaps: false, reads: false })
    expect(script.run(instruct(1, 2, 3))).toEqual(
      expect.arrayContaining(['connect 2 alone', 'connect 3 alone']),
    )
    expect(new CoreScript().run(join, instruct(1, 2))).toContain('connect 2')
  })
})

describe('who may not read', () => {
  it('is not attached on its own, and is told why', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.readsForMs = (userId) => (userId === stranger ? 0 : Infinity)
    expect(script.run(opened(9), attach(9))).toEqual(['dropped attach.denied', 'detach 9 not-permitted'])
    expect(script.attached()).toBe('2 3')
    expect(script.run(publish(batchAt([startMs])))).not.toContain('data 9')
  })

  it('is not attached when a tracker orders it, and the tracker is told', () => {
    const script = new CoreScript()
    script.readsForMs = (userId) => (userId === stranger ? 0 : Infinity)
    script.run(join, instruct(1, 2, 9), opened(2), attach(2), opened(9))
    expect(script.run(attach(9))).toContain('detach 9 not-permitted')
    expect(script.attached()).toBe('2')
    expect(script.status()).toBe('#1 [2] failed [9:refused]')
  })

  it('gets no fetch answered and no replay', () => {
    const script = new CoreScript().withNeighbours(2)
    script.readsForMs = (userId) => (userId === stranger ? 0 : Infinity)
    script.run(publish(batchAt([startMs])), opened(9))
    const lines = script.run(
      attach(9, 10_000),
      control(9, {
        type: 'fetch',
        requestId: 1,
        streamPartId: partId,
        publisherId: identityOf(7).nodeId,
        messageChainId: 'c',
        ranges: [
          { after: { timestamp: 0, sequenceNumber: 0 }, upTo: { timestamp: startMs, sequenceNumber: 0 } },
        ],
      }),
    )
    expect(lines.filter((line) => line.startsWith('data 9'))).toEqual([])
    expect(lines).toContain('dropped fetch.refused')
  })

  it('is heard while the registry is asked, as whoever signed what it brings may publish', () => {
    const script = new CoreScript().withNeighbours(2)
    script.readsForMs = () => undefined
    expect(script.run(opened(9), attach(9), data(9, batchAt([startMs])))).toEqual([
      expect.stringMatching(/^resolve/),
      'data 2',
      'deliver 0',
    ])
    script.readsForMs = () => 0
    script.run(resolved(stranger))
    expect(script.run(data(9, batchAt([startMs + 1])))).toEqual(['dropped data.notAttached'])
  })

  it('is detached as soon as the registry says so', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.readsForMs = (userId) => (userId === idOf(3) ? 0 : Infinity)
    expect(script.run(changed)).toContain('detach 3 not-permitted')
    expect(script.attached()).toBe('2')
    expect(script.run(publish(batchAt([startMs])))).toEqual(['data 2', 'deliver 0'])
  })

  it('is attached as ordered when the registry says that it may after all', () => {
    const script = new CoreScript()
    script.readsForMs = (userId) => (userId === stranger ? 0 : Infinity)
    script.run(join, instruct(1, 2, 9), opened(2), attach(2), opened(9), attach(9))
    script.readsForMs = () => Infinity
    expect(script.run(changed)).toEqual(['attach 9', 'status'])
    script.run(attach(9))
    expect(script.attached()).toBe('2 9')
  })

  it('is detached when its time is over', () => {
    const script = new CoreScript()
    const untilMs = startMs + 60_000
    script.readsForMs = (userId) => (userId === idOf(3) ? untilMs - script.wallMs : Infinity)
    script.withNeighbours(2, 3)
    script.pass(59_999)
    expect(script.attached()).toBe('2 3')
    expect(script.pass(1)).toContain('detach 3 not-permitted')
    expect(script.attached()).toBe('2')
  })
})

describe('while the registry has not answered', () => {
  it('nobody new is attached; the answer decides', () => {
    const script = new CoreScript().withNeighbours(2)
    script.readsForMs = (userId) => (userId === idOf(2) ? Infinity : undefined)
    expect(script.run(opened(9), attach(9))).toEqual([`resolve reader 9`])
    expect(script.attached()).toBe('2')
    script.readsForMs = () => Infinity
    expect(script.run(resolved(stranger))).toContain('attach 9')
    expect(script.attached()).toBe('2 9')
  })

  it('those who were in stay, also when nobody can be asked', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.readsForMs = () => undefined
    expect(script.run(changed)).toEqual(['resolve reader 2', 'resolve reader 3', 'status'])
    script.run(resolved(idOf(2), false), resolved(idOf(3), false))
    expect(script.attached()).toBe('2 3')
  })

  it('those who were in are asked about again until there is an answer', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.run(opened(9), feeds(9))
    script.readsForMs = () => undefined
    script.policy = 'unknown'
    script.run(changed, resolved(idOf(2), false))
    const questions = ['resolve reader 2', 'resolve reader 3', 'resolve']
    expect(script.pass(networkLimits.readerRetryMs)).toEqual(expect.arrayContaining(questions))
    script.readsForMs = (userId) => (userId === idOf(2) ? 0 : undefined)
    expect(script.run(resolved(idOf(2)))).toContain('detach 2 not-permitted')
    expect(script.pass(networkLimits.readerRetryMs)).toEqual(expect.arrayContaining(questions.slice(1)))
    script.readsForMs = () => 0
    script.policy = 'denied'
    expect(script.pass(networkLimits.readerRetryMs)).toEqual(
      expect.arrayContaining(['detach 3 not-permitted', 'detach 9 not-permitted']),
    )
  })

  it('those who were in stay when they attach again, also while too many wait', () => {
    const script = new CoreScript({ maxWaitingAttaches: 0 }).withNeighbours(2, 3)
    script.run(opened(9), feeds(9))
    script.readsForMs = () => undefined
    script.policy = 'unknown'
    script.nowMs += 2_000
    const lines = script.run(attach(3), feeds(9))
    expect(lines).toEqual(['resolve reader 3', 'attach 3', 'resolve', 'attach 9'])
    expect(script.attached()).toBe('2 3')
  })

  it('only the answer to its own question decides', () => {
    const script = new CoreScript().withNeighbours(2)
    script.readsForMs = (userId) => (userId === idOf(2) ? Infinity : undefined)
    script.policy = 'unknown'
    script.run(opened(8), feeds(8), opened(9), attach(9))
    const published = {
      type: 'publisherResolved',
      scope: streamId,
      publisherId: stranger,
      found: false,
    } as const
    expect(script.run(published, resolved(idOf(8), false))).toEqual([])
    script.readsForMs = () => Infinity
    script.policy = 'allowed'
    expect(script.run(resolved(stranger))).toContain('attach 9')
    expect(script.run({ ...published, publisherId: idOf(8), found: true })).toContain('attach 8')
  })

  it('nobody waits any more whose link was closed as nobody used it', () => {
    const script = new CoreScript().withNeighbours(2)
    script.readsForMs = () => undefined
    script.run(opened(9), attach(9))
    expect(script.pass(networkLimits.linkLingerMs)).toContain('disconnect 9 UNUSED')
    expect(script.core.streamParts.get(partId)?.members.waiting.size).toBe(0)
  })

  it('those who wait are bounded', () => {
    const script = new CoreScript({ maxWaitingAttaches: 1, maxProvisional: 8 }).withNeighbours(2)
    script.readsForMs = () => undefined
    script.run(opened(8), attach(8))
    expect(script.run(opened(9), attach(9))).toContain('detach 9 full')
  })
})

describe('a node that acts for a user', () => {
  const user = identityOf(5)
  const token = signMembership({ nodeId: stranger, expiresMs: startMs + 1_000 }, crypto, user)

  it('reads in the name of the user', () => {
    const script = new CoreScript().withNeighbours(2)
    script.readsForMs = (userId) => (userId === user.nodeId || userId === idOf(2) ? Infinity : 0)
    script.run(opened(9), asked(9, { reads: true, token }))
    expect(script.attached()).toBe('2 9')
  })

  it('does not, with a token of somebody else or when it is too late', () => {
    const script = new CoreScript().withNeighbours(2)
    script.readsForMs = (userId) => (userId === user.nodeId || userId === idOf(2) ? Infinity : 0)
    expect(script.run(opened(8), asked(8, { reads: true, token }))).toContain('detach 8 not-permitted')
    script.nowMs += 1_000
    expect(script.run(opened(9), asked(9, { reads: true, token }))).toContain('detach 9 not-permitted')
  })
})

describe('what attaches cost', () => {
  const user = identityOf(5)
  const tokenUntil = (expiresMs: number) => signMembership({ nodeId: stranger, expiresMs }, crypto, user)
  const token = tokenUntil(startMs + 60_000)

  it.each([true, false])('one check of a token, however often it comes, reads: %s', (reads) => {
    const script = new CoreScript().withNeighbours(2)
    script.run(opened(9))
    for (let i = 0; i < 10; i++) {
      script.nowMs += 2_000
      script.run(asked(9, { reads, token }))
    }
    expect(script.tokensVerified).toBe(1)
  })

  it('a token that was good is not, when it is over', () => {
    const script = new CoreScript().withNeighbours(2)
    script.readsForMs = (userId) => (userId === user.nodeId || userId === idOf(2) ? Infinity : 0)
    script.run(opened(9), asked(9, { reads: true, token }))
    expect(script.attached()).toBe('2 9')
    script.nowMs += 60_000
    expect(script.run(asked(9, { reads: true, token }))).toContain('detach 9 not-permitted')
  })

  it('no check at a node that takes no feeders, nor of a feeder that was refused', () => {
    const script = new CoreScript()
    script.run({ ...join, reads: false }, opened(9), feeds(9, token))
    expect(script.tokensVerified).toBe(0)
    script.run(join)
    script.policy = 'denied'
    expect(script.run(feeds(9, token))).toContain('detach 9 not-permitted')
    expect(script.run(feeds(9, tokenUntil(startMs + 70_000)))).toContain('detach 9 not-wanted')
    expect(script.tokensVerified).toBe(1)
  })

  it('so many new tokens; whoever sends more misbehaves', () => {
    const script = new CoreScript({ maxMembershipTokens: 3 }).withNeighbours(2)
    script.run(opened(9))
    let expiresMs = startMs + 1_000_000
    const next = () => {
      script.nowMs += 2_000
      return script.run(feeds(9, tokenUntil(expiresMs++)))
    }
    for (let i = 0; i < 3; i++) expect(next()).not.toContain('disconnect 9 MISBEHAVED')
    script.nowMs += networkLimits.membershipWindowMs
    for (let i = 0; i < 3; i++) expect(next()).not.toContain('disconnect 9 MISBEHAVED')
    expect(next()).toContain('disconnect 9 MISBEHAVED')
    expect(script.tokensVerified).toBe(6)
  })
})

describe('a feeder', () => {
  const publisher = identityOf(7)
  const token = signMembership({ nodeId: stranger, expiresMs: startMs + 1e9 }, crypto, publisher)
  const batch = batchAt([startMs], { publisher })
  const publisherFound = {
    type: 'publisherResolved',
    scope: streamId,
    publisherId: publisher.nodeId,
    found: true,
  } as const

  it('is answered, and what its user publishes is flooded on', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    expect(script.run(opened(9), feeds(9, token))).toEqual(['attach 9'])
    expect(script.attached()).toBe('2 3')
    expect(script.run(data(9, batch))).toEqual(['data 2', 'data 3', 'deliver 0'])
  })

  it('is sent nothing of others, and stays without an instruction', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.run(opened(9), feeds(9, token))
    expect(script.run(data(2, batchAt([startMs], { publisher: identityOf(6) })))).toEqual([
      'data 3',
      'deliver 0',
    ])
    const later = script.pass(120_000)
    expect(later.filter((line) => / 9\b/.test(line))).toEqual([])
    expect(script.run(data(9, batch))).toContain('deliver 0')
  })

  it('that was a neighbour is let off for what it sent before, which may come later', () => {
    const script = new CoreScript({ maxUselessData: 0 }).withNeighbours(2, 9)
    script.pass(5_000)
    expect(script.run(feeds(9, token))).toContain('attach 9')
    const late = [0, 1].map((ms) => data(9, batchAt([startMs + ms], { publisher: identityOf(6) })))
    expect(script.run(...late)).toEqual(late.map(() => 'dropped data.notAttached'))
  })

  it('is told nothing of other chains by the answer', () => {
    const script = new CoreScript().withNeighbours(2)
    script.run(data(2, batchAt([startMs], { publisher: identityOf(6) })), data(2, batch))
    script.run(opened(9), feeds(9, token))
    const answer = script.sent.at(-1)
    expect(answer).toMatchObject({ type: 'attach', heads: [{ publisherId: publisher.nodeId }] })
  })

  it('may bring nothing but what its user published', () => {
    const script = new CoreScript().withNeighbours(2)
    script.run(opened(9), feeds(9, token))
    expect(script.run(data(9, batchAt([startMs], { publisher: identityOf(6) })))).toEqual([
      'dropped data.notAttached',
    ])
  })

  it('who may not publish either is refused', () => {
    const script = new CoreScript().withNeighbours(2)
    script.policy = 'denied'
    expect(script.run(opened(9), feeds(9, token))).toContain('detach 9 not-permitted')
  })

  it('that was denied by a registry that was behind is taken when that has changed', () => {
    const script = new CoreScript().withNeighbours(2)
    script.policy = 'denied'
    script.run(opened(9), feeds(9, token))
    script.policy = 'allowed'
    script.run(changed)
    expect(script.run(feeds(9, token))).toEqual(['attach 9'])
  })

  it('waits for the registry, and is detached when it says no', () => {
    const script = new CoreScript().withNeighbours(2)
    script.policy = 'unknown'
    expect(script.run(opened(9), feeds(9, token))).toEqual(['resolve'])
    script.policy = 'allowed'
    expect(script.run(publisherFound)).toEqual(['attach 9'])
    script.policy = 'denied'
    expect(script.run(changed)).toContain('detach 9 not-permitted')
    expect(script.run(data(9, batch))).toEqual(['dropped data.notAttached'])
  })

  it('is heard while it waits for the registry, also when it leaves before the answer comes', () => {
    const script = new CoreScript().withNeighbours(2)
    script.policy = 'unknown'
    const others = batchAt([startMs], { publisher: identityOf(6) })
    expect(script.run(opened(9), feeds(9, token), data(9, batch), data(9, others))).toEqual([
      'resolve',
      'resolve',
      'dropped data.notAttached',
    ])
    script.run(control(9, { type: 'detach', streamPartId: partId, reason: 'left' }))
    script.policy = 'allowed'
    expect(script.run(publisherFound)).toEqual(['data 2', 'deliver 0'])
  })

  it('is no neighbour, also when a tracker takes it for one', () => {
    const script = new CoreScript().withNeighbours(2, 9)
    expect(script.attached()).toBe('2 9')
    expect(script.run(feeds(9, token))).toContain('neighbours [2]')
    expect(script.status()).toBe('#1 [2] failed [9:refused]')
  })

  it('feeders are bounded', () => {
    const script = new CoreScript({ maxFeeders: 1 }).withNeighbours(2)
    script.run(opened(8), feeds(8))
    expect(script.run(opened(9), feeds(9))).toContain('detach 9 full')
  })

  it('that was a neighbour is none when there are too many feeders either, and is sent nothing more', () => {
    const script = new CoreScript({ maxFeeders: 1 }).withNeighbours(2, 9)
    script.run(opened(8), feeds(8))
    expect(script.run(feeds(9))).toEqual(expect.arrayContaining(['detach 9 full', 'neighbours [2]']))
    expect(script.run(publish(batchAt([startMs])))).not.toContain('data 9')
  })

  it('itself sends to the nodes it was told, and takes nothing from them', () => {
    const script = new CoreScript()
    script.run({ ...join, reads: false }, instruct(1, 2, 3), opened(2), opened(3))
    expect(script.sent.at(-1)).toMatchObject({ heads: [], sinceMs: 0, membership: { reads: false } })
    script.run(attach(2), attach(3))
    expect(script.attached()).toBe('2 3')
    expect(script.run(publish(batch))).toEqual(['data 2', 'data 3', 'deliver 0'])
    expect(script.run(data(2, batchAt([startMs], { publisher: identityOf(6) })))).toEqual([
      'dropped data.notAttached',
    ])
    expect(script.pass(60_000).filter((line) => /^(heads|fetch)/.test(line))).toEqual([])
  })

  it('replays what it published to a node that it reaches again', () => {
    const script = new CoreScript()
    script.run({ ...join, reads: false }, instruct(1, 2), publish(batch), opened(2))
    expect(script.run(attach(2, 10_000))).toContain('data 2')
  })

  it('becomes a neighbour when it may read, and tells those it is attached to', () => {
    const script = new CoreScript()
    script.run({ ...join, reads: false }, instruct(1, 2), opened(2), attach(2))
    expect(script.run(join)).toEqual(['attach 2', 'status'])
    expect(script.run(data(2, batchAt([startMs], { publisher: identityOf(6) })))).toEqual(['deliver 0'])
  })

  it('looks for nothing that was published before it began to read', () => {
    const script = new CoreScript()
    script.run({ ...join, reads: false }, instruct(1, 2), opened(2), attach(2))
    script.pass(60_000)
    script.run(join)
    expect(script.sent.at(-1)).toMatchObject({ type: 'attach', sinceMs: 1 })
    const previous = { timestamp: startMs + 58_000, sequenceNumber: 0 }
    script.run(data(2, batchAt([startMs + 60_000], { publisher: identityOf(6), previous })))
    expect(script.pass(10_000).filter((line) => line.startsWith('fetch'))).toEqual([])
  })

  it('that was a neighbour detaches its own feeders, and holds nothing against those whose data was under way', () => {
    const script = new CoreScript({ maxUselessData: 0 }).withNeighbours(2, 3)
    script.run(opened(9), feeds(9, token))
    script.pass(60_000)
    expect(script.run({ ...join, reads: false })).toEqual(
      expect.arrayContaining(['attach 2', 'attach 3', 'detach 9 left', 'status']),
    )
    const lines = script.run(data(2, batchAt([startMs], { publisher: identityOf(6) })), data(9, batch))
    expect(lines).toEqual(['dropped data.notAttached', 'dropped data.notAttached'])
  })

  it('that was a neighbour replays what it published and nothing else', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.run(data(3, batchAt([startMs], { publisher: identityOf(6) })), publish(batch))
    script.run({ ...join, reads: false }, instruct(2, 2, 4))
    const lines = script.run(opened(4), attach(4, 30_000))
    expect(lines.filter((line) => line.startsWith('data'))).toEqual(['data 4'])
  })
})
