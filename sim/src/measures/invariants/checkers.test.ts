import {
  createIdentity,
  encodePacket,
  loadCrypto,
  PacketType,
  toStreamId,
  toStreamPartId,
  type NodeId,
  type Packet,
  type StreamMessage,
} from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { ChainPublisher } from '../../world/chain-publisher.ts'
import { AuthenticChecker } from './authentic.ts'
import { checkBounds } from './bounded.ts'
import { Breaches } from './breaches.ts'
import { checkDegree } from './degree.ts'
import { DeliveryChecker } from './delivery.ts'
import { FloodingChecker } from './flooding.ts'
import { checkGraph, componentOf, faultOf } from './graph.ts'
import { NoiselessChecker } from './noiseless.ts'
import { PublishedMessages } from './published.ts'
import { SecretChecker } from './secret.ts'

const nodeId = (name: string): NodeId => `0x${name.repeat(40)}` as NodeId
const [a, b, c] = ['a', 'b', 'c'].map(nodeId) as [NodeId, NodeId, NodeId]
const streamPartId = toStreamPartId(toStreamId(`${a}/stream`), 0)

function setUp() {
  const time = { nowMs: 0 }
  const breaches = new Breaches(() => time.nowMs)
  return { time, breaches, nowMs: () => time.nowMs, found: () => breaches.first?.invariant }
}

describe('Breaches', () => {
  it('keeps the first', () => {
    const { breaches, time } = setUp()
    time.nowMs = 7
    breaches.report('degree', 'one')
    breaches.report('graph', 'two')
    expect(breaches.first).toEqual({ invariant: 'degree', atMs: 7, detail: 'one' })
  })
})

describe('noiseless', () => {
  const options = { graceMs: 100, troubledGraceMs: 1_000 }
  const attach: Packet = { type: 'attach', streamPartId, sinceMs: 0, heads: [] }
  const body = encodePacket(attach).subarray(2)

  function checker() {
    const world = setUp()
    const trouble = { atMs: -1 }
    const noiseless = new NoiselessChecker(options, { ...world, troubledMs: () => trouble.atMs })
    return { ...world, trouble, noiseless, receive: () => noiseless.received(a, b, PacketType.attach, body) }
  }

  it('is broken by a packet to a node that never joined', () => {
    const { receive, found } = checker()
    receive()
    expect(found()).toBe('noiseless')
  })

  it('is broken by one to a node that left, once nothing can be under way', () => {
    const { noiseless, receive, found, time } = checker()
    noiseless.joined(a, streamPartId)
    receive()
    time.nowMs = 50
    noiseless.left(a, streamPartId)
    time.nowMs = 150
    receive()
    expect(found()).toBeUndefined()
    time.nowMs = 151
    receive()
    expect(found()).toBe('noiseless')
  })

  it('allows more where goodbyes may have been lost, and not for ever', () => {
    const { noiseless, receive, found, time, trouble } = checker()
    noiseless.joined(a, streamPartId)
    noiseless.left(a, streamPartId)
    trouble.atMs = 10
    time.nowMs = 1_010
    receive()
    expect(found()).toBeUndefined()
    time.nowMs = 1_011
    receive()
    expect(found()).toBe('noiseless')
  })

  it('is not broken by a packet about no stream part', () => {
    const { noiseless, found } = checker()
    noiseless.received(a, b, PacketType.ping, encodePacket({ type: 'ping', token: 1 }).subarray(2))
    expect(found()).toBeUndefined()
  })
})

describe('degree', () => {
  it('is broken by one neighbour too many', () => {
    const { breaches, found } = setUp()
    checkDegree([{ nodeId: a, neighbours: 4 }], 4, breaches)
    expect(found()).toBeUndefined()
    checkDegree([{ nodeId: a, neighbours: 5 }], 4, breaches)
    expect(found()).toBe('degree')
  })
})

describe('graph', () => {
  const overlay = (edges: Record<string, NodeId[]>) =>
    new Map(Object.entries(edges).map(([id, neighbours]) => [id as NodeId, new Set(neighbours)]))
  const ids = Array.from({ length: 8 }, (_, i) => nodeId(String(i)))
  /** Rings of four, each its own component. */
  const rings = (count: number) =>
    new Map(
      Array.from({ length: 4 * count }, (_, i) => {
        const at = (step: number): NodeId => ids[i - (i % 4) + ((i + step) % 4)] ?? a
        return [ids[i] ?? a, new Set([at(1), at(3)])] as const
      }),
    )

  const regular = (degree: number) => ({ degree, isRegular: true })

  it('holds for a triangle, for nobody and for one', () => {
    const { breaches, found } = setUp()
    checkGraph(overlay({ [a]: [b, c], [b]: [a, c], [c]: [a, b] }), regular(4), breaches)
    checkGraph(overlay({}), regular(4), breaches)
    checkGraph(overlay({ [a]: [] }), regular(4), breaches)
    checkGraph(rings(1), regular(2), breaches)
    expect(found()).toBeUndefined()
  })

  it.each([
    ['its own neighbour', overlay({ [a]: [a, b], [b]: [a] })],
    ['which is not there', overlay({ [a]: [b, c], [b]: [a] })],
    ['not the other way', overlay({ [a]: [b], [b]: [] })],
    ['open slots', overlay({ [a]: [b], [b]: [a], [c]: [] })],
    ['in pieces', rings(2)],
  ])('is broken: %s', (fault, broken) => {
    const { breaches, found } = setUp()
    checkGraph(broken, regular(2), breaches)
    expect(found()).toBe('graph')
    expect(breaches.first?.detail).toContain(fault)
  })

  it('is broken by a degree that is too high, and by open slots where it should be regular', () => {
    const path = overlay({ [a]: [b, c], [b]: [a], [c]: [a] })
    expect(faultOf(path, { degree: 2, isRegular: false })).toBeUndefined()
    expect(faultOf(path, regular(2))).toContain('open slots')
    expect(faultOf(path, regular(1))).toContain('has 2 neighbours, not 1')
    const pair = overlay({ [a]: [b], [b]: [a], [c]: [] })
    expect(faultOf(pair, regular(1))).toContain('in pieces')
  })

  it('finds what is reached over edges that both ends have', () => {
    expect(componentOf(overlay({ [a]: [b], [b]: [a, c], [c]: [] }), a)).toEqual(new Set([a, b]))
  })
})

describe('messages', async () => {
  const crypto = await loadCrypto()
  const clock = new VirtualClock()
  const identity = createIdentity(new Uint8Array(32).fill(7), crypto)

  function published(count: number) {
    const world = setUp()
    const messages = new PublishedMessages()
    const batch = new ChainPublisher({ streamPartId }, { clock, crypto, identity }).next(count)
    const keys = messages.add(batch.bytes)
    return { ...world, published: messages, sent: batch.messages as StreamMessage[], keys }
  }

  const changed = (message: StreamMessage | undefined): StreamMessage => {
    if (message === undefined) throw new Error('no message')
    return { ...message, content: message.content.map((byte) => byte ^ 1) }
  }

  it('are taken as they were published, and once', () => {
    const { sent, found, keys, ...modules } = published(2)
    const authentic = new AuthenticChecker(a, modules)
    for (const message of sent) authentic.took(message)
    expect(authentic.has(keys[1] ?? '')).toBe(true)
    expect([keys[0], keys.at(-1)].map((key = '') => authentic.hasLater(key))).toEqual([true, false])
    expect(found()).toBeUndefined()
    for (const message of sent) authentic.took(message)
    expect(found()).toBe('authentic')
  })

  it('are not to be taken when altered', () => {
    const { sent, found, ...modules } = published(1)
    new AuthenticChecker(a, modules).took(changed(sent[0]))
    expect(found()).toBe('authentic')
  })

  it.each([
    ['in order', [0, 1, 2], undefined],
    ['from any on', [1, 2], undefined],
    ['out of order', [1, 0], 'delivery'],
    ['twice', [0, 0], 'delivery'],
    ['with one left out', [0, 2], 'delivery'],
  ])('are given to the application %s', (_, numbers, expected) => {
    const { sent, found, ...modules } = published(3)
    const delivery = new DeliveryChecker(a, modules)
    for (const number of numbers) {
      const message = sent[number]
      if (message !== undefined) delivery.given({ kind: 'message', message })
    }
    expect(found()).toBe(expected)
  })

  it('are left out only where a gap is told of, and not altered', () => {
    const { sent, found, ...modules } = published(3)
    const delivery = new DeliveryChecker(a, modules)
    const [first, second, third] = sent
    if (first === undefined || second === undefined || third === undefined) throw new Error('too few')
    delivery.given({ kind: 'message', message: first })
    delivery.lost({ chain: first, after: first, upTo: second })
    delivery.given({ kind: 'gap', chain: first, after: first, upTo: second })
    delivery.given({ kind: 'message', message: third })
    expect(found()).toBeUndefined()
    delivery.given({ kind: 'message', message: changed(third) })
    expect(found()).toBe('delivery')
  })

  it.each([
    ['that the node gave up, or where there was no room to wait', true, undefined],
    ['and not where the node still looks for them, or has them', false, 'delivery'],
  ])('are left out %s', (_, isForced, expected) => {
    const { sent, found, ...modules } = published(3)
    const [first, second, third] = sent
    if (first === undefined || second === undefined || third === undefined) throw new Error('too few')
    const delivery = new DeliveryChecker(a, modules)
    delivery.lost({ chain: first, after: second, upTo: third })
    delivery.given({ kind: 'gap', chain: first, after: first, upTo: second }, isForced)
    expect(found()).toBe(expected)
  })
})

describe('flooding', () => {
  function checker() {
    const world = setUp()
    const has = new Set<NodeId>()
    const calm = { disturbances: 0 }
    const modules = { ...world, disturbances: () => calm.disturbances, has: (id: NodeId) => has.has(id) }
    const flooding = new FloodingChecker({ withinMs: 100 }, modules)
    flooding.published('key', new Set([a, b]))
    return { ...world, flooding, has, calm }
  }

  it('is broken when one of those connected has not got the message in time', () => {
    const { flooding, has, time, found } = checker()
    has.add(a)
    time.nowMs = 99
    flooding.check()
    expect(found()).toBeUndefined()
    time.nowMs = 100
    flooding.check()
    expect([found(), flooding.checked]).toEqual(['flooding', 1])
  })

  it('says nothing of messages that were published before something happened', () => {
    const { flooding, time, found, calm } = checker()
    calm.disturbances++
    time.nowMs = 100
    flooding.check()
    expect([found(), flooding.checked]).toEqual([undefined, 0])
  })
})

describe('bounded', () => {
  it('is broken by one more than the limit', () => {
    const { breaches, found } = setUp()
    checkBounds('node', [{ name: 'queue', size: 3, limit: 3 }], breaches)
    expect(found()).toBeUndefined()
    checkBounds('node', [{ name: 'queue', size: 4, limit: 3 }], breaches)
    expect(found()).toBe('bounded')
  })
})

describe('secret', () => {
  const content = Uint8Array.of(1, 2, 3)
  const message = {
    ...{ streamId: toStreamId(`${a}/stream`), partition: 0, publisherId: a, messageChainId: 'chain' },
    ...{ timestamp: 1, sequenceNumber: 0 },
  } as StreamMessage

  /** `b` may read, `c` may not. */
  function checker() {
    const world = setUp()
    const isReader = (userId: NodeId) => userId === b
    const secret = new SecretChecker({ ...world, readSince: isReader, mustRead: isReader })
    secret.sealed(message, content, 0)
    return { ...world, secret }
  }

  it('holds while readers open what was published, and others nothing', () => {
    const { secret, found } = checker()
    secret.openedBy(b, message, content)
    secret.unopened(c, [message])
    expect([found(), secret.opened]).toEqual([undefined, 1])
  })

  it('is broken by other content', () => {
    const { secret, found } = checker()
    secret.openedBy(b, message, Uint8Array.of(1, 2, 4))
    expect(found()).toBe('secret')
  })

  it('is broken by a message that nobody sealed', () => {
    const { secret, found } = checker()
    secret.openedBy(b, { ...message, sequenceNumber: 1 }, content)
    expect(found()).toBe('secret')
  })

  it('is broken by one who opens and may not read', () => {
    const { secret, found } = checker()
    secret.openedBy(c, message, content)
    expect(found()).toBe('secret')
  })

  it('is broken by one who may read and cannot open', () => {
    const { secret, found } = checker()
    secret.unopened(b, [message])
    expect(found()).toBe('secret')
  })
})
