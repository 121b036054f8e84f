import {
  buildBatch,
  toStreamPartId,
  type MessageBatch,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import type { Connection, Transport } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import type { NetworkNodeModules } from '../create-network-node.ts'
import { networkLimits } from '../limits.ts'
import {
  crypto,
  everybodyMay,
  identityOf,
  partId,
  streamId,
  Swarm,
  TestPublisher,
  turn,
  type Member,
} from '../network.testkit.ts'
import type { NodeFault } from '../ports.ts'

const otherPartId = toStreamPartId(streamId, 1)

/** Three nodes in two stream parts, one of them with what is given. */
async function threeNodes(others: Partial<NetworkNodeModules> = {}) {
  const swarm = new Swarm()
  swarm.expectsFaults = true
  const sound = await swarm.grow(2, 'node', [partId, otherPartId])
  const hit = swarm.make('hit', {}, everybodyMay, swarm.clock, others)
  const faults: NodeFault[] = []
  hit.node.on('fault', (fault) => faults.push(fault))
  await hit.node.start()
  hit.node.join(partId)
  hit.node.join(otherPartId)
  swarm.clock.advanceBy(5_000)
  return { swarm, hit, sound, faults, all: [...sound, hit] }
}

let publishers = 0
/** A message of a new publisher that the first node is given comes to all. */
function expectFlooding(swarm: Swarm, members: readonly Member[], part: 0 | 1): void {
  const text = `message ${publishers}`
  const publisher = new TestPublisher(`publisher ${publishers++}`, swarm.clock)
  members[0]?.node.publish(publisher.next(text, part))
  swarm.clock.advanceBy(200)
  for (const member of members) expect(member.texts().filter((it) => it === text)).toEqual([text])
}

const partOf = ({ chain }: MessageBatch): StreamPartId => toStreamPartId(chain.streamId, chain.partition)

describe('a fault in a node', () => {
  it('in the work of one stream part leaves the other alone, and the first is joined again', async () => {
    let isBroken = false
    const verify = (batch: MessageBatch): boolean => {
      if (isBroken && partOf(batch) === partId) throw new Error('no verifying today')
      return true
    }
    const { swarm, hit, sound, faults, all } = await threeNodes({ verify })
    isBroken = true
    sound[0]?.node.publish(new TestPublisher('p', swarm.clock).next('hits'))
    swarm.clock.advanceBy(50)
    expect(faults).toEqual([{ streamPartId: partId, error: new Error('no verifying today') }])
    expect(hit.node.metrics().counters).toMatchObject({ 'fault.streamPart': 1, 'fault.other': 0 })
    expect(hit.node.streamParts).toEqual([otherPartId, partId])
    expectFlooding(swarm, all, 1)
    // The others have let it go: the tracker was told.
    expect(sound[0]?.node.metrics().streamParts[0]?.neighbours).toHaveLength(1)
    isBroken = false
    swarm.clock.advanceBy(5_000)
    expectFlooding(swarm, all, 0)
    expectFlooding(swarm, all, 1)
  })

  it('of a message from the beginning of time, which reaches all, ends nobody', async () => {
    const { swarm, sound, all } = await threeNodes()
    const { nodeId: publisherId } = identityOf('killer')
    const chain = { streamId, partition: 0, publisherId, messageChainId: 'c' }
    const previous = { timestamp: 1, sequenceNumber: 0 }
    const rest = { contentType: 0, encryptionType: 0, groupKeyId: '', content: new Uint8Array(1) }
    const messages = [{ timestamp: 1, sequenceNumber: 1, previous, ...rest }]
    sound[0]?.node.publish(buildBatch({ chain, messages }, crypto, identityOf('killer')))
    for (let i = 0; i < 20; i++) expectFlooding(swarm, all, 1)
    swarm.clock.advanceBy(10_000)
    expectFlooding(swarm, all, 0)
    expectFlooding(swarm, all, 1)
  })

  it('in finding trackers of one stream part leaves the other alone', async () => {
    const swarm = new Swarm()
    let isBroken = true
    const trackers = {
      trackersFor: (id: StreamPartId) => {
        if (isBroken && id === partId) throw new Error('no trackers')
        return [swarm.trackerAddress]
      },
      onChange: () => () => undefined,
    }
    swarm.expectsFaults = true
    const [first] = await swarm.grow(1, 'node', [partId, otherPartId])
    const hit = swarm.make('hit', {}, everybodyMay, swarm.clock, { trackers })
    await hit.node.start()
    hit.node.join(partId)
    hit.node.join(otherPartId)
    swarm.clock.advanceBy(10_000)
    const members = [first, hit].filter((member) => member !== undefined)
    expectFlooding(swarm, members, 1)
    // Not more often than it rests in between.
    expect(hit.node.metrics().counters['fault.streamPart']).toBeLessThanOrEqual(4)
    isBroken = false
    swarm.clock.advanceBy(networkLimits.maxFaultRestMs)
    expectFlooding(swarm, members, 0)
  })

  it('in dialling one peer leaves the others alone', async () => {
    const swarm = new Swarm()
    swarm.expectsFaults = true
    const members = await swarm.grow(3, 'node', [partId])
    const avoided = members[0]?.node.nodeId
    const hit = swarm.make('hit', {}, everybodyMay, swarm.clock, {
      transports: (modules) => [brokenFor(avoided, swarm.network.transport({ role: 'node' }, modules))],
    })
    const faults: NodeFault[] = []
    hit.node.on('fault', (fault) => faults.push(fault))
    await hit.node.start()
    hit.node.join(partId)
    swarm.clock.advanceBy(20_000)
    expect(hit.node.metrics().counters['fault.streamPart']).toBe(0)
    expect(hit.node.metrics().streamParts[0]?.neighbours.length).toBeGreaterThanOrEqual(2)
    expectFlooding(swarm, [...members, hit], 0)
  })

  it('in dialling a peer that the application asked for fails the link that it waits for', async () => {
    const swarm = new Swarm()
    swarm.expectsFaults = true
    const peer = swarm.make('peer')
    let isBroken = true
    const hit = swarm.make('hit', {}, everybodyMay, swarm.clock, {
      transports: (modules) => [
        brokenFor(peer.node.nodeId, swarm.network.transport({ role: 'node' }, modules), () => isBroken),
      ],
    })
    for (const { node } of [peer, hit]) await node.start()
    const contactOfPeer = { nodeId: peer.node.nodeId, contact: peer.node.contact }
    await expect(turn(swarm, hit.node.connect(contactOfPeer, {}))).rejects.toMatchObject({
      code: 'LINK_FAILED',
      cause: new Error('cannot be dialled'),
    })
    isBroken = false
    swarm.clock.advanceBy(10_000)
    const link = await turn(swarm, hit.node.connect(contactOfPeer, {}))
    link.release()
  })

  it('in stopping one transport keeps none of the others from stopping', async () => {
    const swarm = new Swarm()
    const stopped: string[] = []
    const hit = swarm.make('hit', {}, everybodyMay, swarm.clock, {
      transports: () =>
        ['first', 'second', 'third'].map((kind) => ({
          ...{ kind, addresses: [], onInbound() {}, canDial: () => false, start: () => Promise.resolve() },
          ...{ dial: () => () => {} },
          stop() {
            stopped.push(kind)
            return kind === 'second' ? Promise.reject(new Error('stays')) : Promise.resolve()
          },
        })),
    })
    await hit.node.start()
    await expect(hit.node.stop()).rejects.toThrow('stays')
    expect(stopped).toEqual(['third', 'second', 'first'])
  })

  it('in dialling a tracker is one more tracker that could not be reached', async () => {
    const swarm = new Swarm()
    swarm.expectsFaults = true
    const members = await swarm.grow(2)
    const { nodeId } = swarm.trackerIdentity
    let isBroken = true
    const hit = swarm.make('hit', {}, everybodyMay, swarm.clock, {
      transports: (modules) => [
        brokenFor(nodeId, swarm.network.transport({ role: 'node' }, modules), () => isBroken),
      ],
    })
    const faults: NodeFault[] = []
    hit.node.on('fault', (fault) => faults.push(fault))
    await hit.node.start()
    hit.node.join(partId)
    swarm.clock.advanceBy(60_000)
    expect(faults[0]).toEqual({ peerId: nodeId, error: new Error('cannot be dialled') })
    expect(faults.length).toBeLessThan(15)
    isBroken = false
    swarm.clock.advanceBy(networkLimits.maxTrackerBackoffMs + 1_000)
    expectFlooding(swarm, [...members, hit], 0)
  })

  it('is told to who publishes', async () => {
    let isBroken = false
    const swarm = new Swarm()
    swarm.expectsFaults = true
    const sound = await swarm.grow(2)
    const hit = swarm.make('hit', {}, everybodyMay, swarm.clock, {
      transports: (modules) => [
        withConnections(swarm.network.transport({ role: 'node' }, modules), (connection) => {
          const { rttMs } = connection
          const get = () => (isBroken ? fail('no round-trip time') : rttMs)
          Object.defineProperty(connection, 'rttMs', { get })
        }),
      ],
    })
    await hit.node.start()
    hit.node.join(partId)
    swarm.clock.advanceBy(5_000)
    const publisher = new TestPublisher('own', swarm.clock)
    hit.node.publish(publisher.next('first'))
    swarm.clock.advanceBy(1_000)
    // The second one is not published, so that the third opens a gap, which is to be looked for.
    publisher.next('second')
    swarm.clock.advanceBy(1_000)
    isBroken = true
    expect(() => hit.node.publish(publisher.next('third'))).toThrow(
      expect.objectContaining({ code: 'STREAM_PART_FAILED' }),
    )
    isBroken = false
    // It can publish all the time, and whoever comes is sent it.
    expect(hit.node.publish(publisher.next('fourth'))).toBe(true)
    swarm.clock.advanceBy(5_000)
    for (const { texts } of sound) expect(texts()).toEqual(['first', 'fourth'])
  })

  it('in a connection to the tracker ends that connection', async () => {
    const swarm = new Swarm()
    swarm.expectsFaults = true
    const sound = await swarm.grow(2)
    const hit = swarm.make('hit', {}, everybodyMay, swarm.clock, {
      transports: (modules) => {
        const memory = swarm.network.transport({ role: 'node' }, modules)
        const handleSignal = () => fail('no signalling')
        const webrtc = { ...noTransport, handleSignal, setIceServers: () => undefined }
        return [memory, webrtc]
      },
    })
    const faults: NodeFault[] = []
    hit.node.on('fault', (fault) => faults.push(fault))
    await hit.node.start()
    hit.node.join(partId)
    swarm.clock.advanceBy(5_000)
    const states: string[] = []
    hit.node.on('tracker', (_, state) => states.push(state))
    const { nodeId: peerId } = identityOf('node 0')
    const signal = { type: 'signal', peerId, sessionId: 1, kind: 'offer', payload: '' } as const
    swarm.tracker.send(hit.node.nodeId, signal)
    swarm.clock.advanceBy(10_000)
    expect(faults).toEqual([{ peerId: swarm.trackerIdentity.nodeId, error: new Error('no signalling') }])
    expect(states).toEqual(['disconnected', 'connected'])
    expectFlooding(swarm, [...sound, hit], 0)
  })
})

function fail(text: string): never {
  throw new Error(text)
}

const noTransport: Transport = {
  kind: 'webrtc',
  addresses: [],
  canDial: () => false,
  onInbound: () => undefined,
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
  dial: () => () => undefined,
}

/** The same transport; its connections are seen first. */
function withConnections(transport: Transport, seen: (connection: Connection) => void): Transport {
  return new Proxy(transport, {
    get: (target, name) => {
      if (name === 'dial') {
        return (options: Parameters<Transport['dial']>[0]) =>
          target.dial({
            ...options,
            onOpen: (connection) => {
              seen(connection)
              options.onOpen(connection)
            },
          })
      }
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
    set: (target, name, value: Transport['onInbound']) => {
      const onInbound = (connection: Connection): void => {
        seen(connection)
        value?.(connection)
      }
      return Reflect.set(target, name, name === 'onInbound' ? onInbound : value, target)
    },
  })
}

/** A transport that throws when this peer is dialled. */
function brokenFor(peerId: NodeId | undefined, transport: Transport, isBroken = () => true): Transport {
  return new Proxy(transport, {
    get: (target, name) => {
      if (name === 'dial') {
        return (options: Parameters<Transport['dial']>[0]) => {
          if (options.peerId === peerId && isBroken()) throw new Error('cannot be dialled')
          return target.dial(options)
        }
      }
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  })
}
