import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createIdentity,
  generatePrivateKey,
  toStreamId,
  toStreamPartId,
  type StreamPartId,
} from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { afterEach, describe, expect, it } from 'vitest'
import { nodeId, webrtcContact } from '../core/tracker-core.testkit.ts'
import { crypto, isLink, startClusterTracker, TestRegistry, type ClusterTracker } from './cluster.testkit.ts'
import { encodeRecord, recordKey, type ClusterRecord, type RecordBody } from './core/record.ts'
import { trackerOrder } from './core/stream-order.ts'
import { startNetwork } from './libp2p/start-network.ts'
import { defaultClusterLimits } from './limits.ts'
import { ObedientNode } from './obedient-node.testkit.ts'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

const streamId = toStreamId(`0x${'ab'.repeat(20)}/hostile`)
const deadline = () => AbortSignal.timeout(10_000)

/** Somebody with a key who speaks the cluster's protocols and keeps to nothing else. */
async function hostile() {
  const privateKey = generatePrivateKey(systemRandom)
  const identity = createIdentity(privateKey, crypto)
  const linked = Promise.withResolvers<void>()
  const unlinked = Promise.withResolvers<void>()
  const network = await startNetwork(
    { privateKey, host: '127.0.0.1', port: 0, announce: [], limits: defaultClusterLimits },
    {
      crypto,
      mayJoin: () => true,
      count: () => {},
      events: {
        onLinked: () => linked.resolve(),
        onUnlinked: () => unlinked.resolve(),
        onStranger: () => {},
        onCircuit: () => {},
        onRecord: () => {},
      },
    },
  )
  stops.push(() => network.stop())
  return { identity, network, linked: linked.promise, unlinked: unlinked.promise }
}

/** A tracker, and another one in its registry that is hostile, linked to it. */
async function attacked() {
  const attacker = await hostile()
  const registry = new TestRegistry()
  const tracker = await startClusterTracker(registry)
  stops.push(() => tracker.stop())
  // Nothing answers at its URL: it cannot be discovered, yet it can dial.
  registry.add(tracker.registered, { nodeId: attacker.identity.nodeId, url: 'ws://127.0.0.1:1' })
  await tracker.logger.line(({ text }) => text === 'joined the cluster of trackers')
  const { addresses } = await tracker.view()
  await attacker.network.dial(tracker.nodeId, addresses, deadline())
  await attacker.linked
  await tracker.logger.line(isLink(attacker.identity.nodeId))
  const ids = [tracker.nodeId, attacker.identity.nodeId]
  /** Of a hundred stream parts surely one. */
  const part = Array.from({ length: 100 }, (_, partition) => toStreamPartId(streamId, partition)).find(
    (id) => trackerOrder(id, ids)[0] === tracker.nodeId,
  )
  if (part === undefined) throw new Error('the tracker is the first of no stream part')
  return { ...attacker, tracker, addresses, part }
}

type Attacked = Awaited<ReturnType<typeof attacked>>

/** Puts a record into the hash table; by default one that its sender signed. */
async function put(
  { network, identity }: Pick<Attacked, 'network' | 'identity'>,
  body: RecordBody,
  changes: Partial<ClusterRecord> & { readonly bytes?: Uint8Array } = {},
): Promise<void> {
  const now = Date.now()
  const { bytes, ...times } = changes
  const record = { writer: identity.nodeId, writtenAt: now, expiresAt: now + 60_000, body, ...times }
  const key = new TextEncoder().encode(recordKey(record.writer, body))
  await network.put(key, bytes ?? encodeRecord(record, identity, crypto), deadline())
}

async function node(at: ClusterTracker, part: StreamPartId): Promise<ObedientNode> {
  const fresh = new ObedientNode(part)
  stops.push(() => fresh.stop())
  await fresh.report(at)
  await fresh.receive('instruction')
  return fresh
}

describe('a tracker in a cluster', { timeout: 120_000 }, () => {
  it('lets nobody in who is not registered', async () => {
    const { tracker, addresses } = await attacked()
    const stranger = await hostile()
    // It may take its own side for open before it hears otherwise.
    await stranger.network.dial(tracker.nodeId, addresses, deadline()).catch(() => {})
    await tracker.logger.line(({ text }) => text === 'refused a peer that is not a registered tracker')
    expect(await tracker.metric('cluster_strangers_refused_total')).toBeGreaterThan(0)
    expect((await tracker.view()).trackers.filter(({ linked }) => linked).length).toBe(1)
  })

  it('says why trackers of the registry cannot be reached, and serves nodes all the same', async () => {
    const registry = new TestRegistry()
    const [a, b] = [await startClusterTracker(registry), await startClusterTracker(registry)]
    stops.push(
      () => a.stop(),
      () => b.stop(),
    )
    expect(await a.view()).toMatchObject({ state: 'unregistered', trackers: [] })
    const gone = await startClusterTracker(registry)
    await gone.stop()
    const dead = { ...gone.registered, nodeId: nodeId(1) }
    const wrong = { nodeId: nodeId(2), url: b.registered.url }
    const nowhere = { nodeId: nodeId(3), url: 'tracker.example' }
    const other = createServer((_request, response) => response.end('x'.repeat(100_000)))
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    stops.push(async () => void other.close())
    const talker = { nodeId: nodeId(4), url: `ws://127.0.0.1:${(other.address() as AddressInfo).port}` }
    registry.add(a.registered, b.registered, dead, wrong, nowhere, talker)
    for (const [{ nodeId: id, url }, code, reason] of [
      [dead, 'CLUSTER_PEER_UNREACHABLE', 'ECONNREFUSED'],
      [wrong, 'CLUSTER_PEER_WRONG_KEY', wrong.nodeId],
      [nowhere, 'CLUSTER_PEER_UNREACHABLE', 'Invalid URL'],
      [talker, 'CLUSTER_PEER_UNREACHABLE', 'more than 65536 bytes'],
    ] as const) {
      const { level, detail } = await a.logger.line(
        ({ text, detail }) =>
          text === 'another tracker cannot be reached' && 'tracker' in detail && detail.tracker === id,
      )
      expect([level, detail]).toMatchObject(['warn', { url, code, reason: expect.stringContaining(reason) }])
    }
    await a.logger.line(isLink(b.nodeId))
    expect(await a.metric('cluster_discoveries_failed_total')).toBeGreaterThan(1)
    await node(a, toStreamPartId(streamId, 0))
  })

  it('says when the registry lists it no longer, or nobody, and goes on alone', async () => {
    const registry = new TestRegistry()
    const [a, b] = [await startClusterTracker(registry), await startClusterTracker(registry)]
    stops.push(
      () => a.stop(),
      () => b.stop(),
    )
    registry.add(a.registered, b.registered)
    await a.logger.line(isLink(b.nodeId))
    await b.logger.line(isLink(a.nodeId))
    registry.set([a.registered])
    const { detail } = await b.logger.line(
      ({ level, text }) => level === 'warn' && text.startsWith('the registry does not list this tracker'),
    )
    expect(detail).toEqual({ nodeId: b.nodeId })
    const since = b.logger.lines.length
    registry.set([])
    await b.logger.line(({ text }) => text === 'the registry lists no tracker; this one works alone', since)
    await node(b, toStreamPartId(streamId, 1))
    expect(await b.view()).toMatchObject({ state: 'unregistered', trackers: [] })
  })

  it('refuses records that are forged, stale, expired or huge, says so, and goes on', async () => {
    const attack = await attacked()
    const { tracker, part } = attack
    const alive: RecordBody = { kind: 'alive', url: 'ws://x', nodes: 1, leads: 1, replicas: 1 }
    await put(attack, alive)
    await put(attack, alive, { writer: tracker.nodeId })
    await put(attack, alive, { writtenAt: 1 })
    await put(attack, alive, { writtenAt: Date.now() + 5, expiresAt: 1 })
    await put(attack, alive, { bytes: new Uint8Array(100_000) })
    for (const [name, count] of [
      ['accepted', 1],
      ['forged', 1],
      ['stale', 2],
      ['too_large', 1],
    ] as const)
      expect(await tracker.metric(`cluster_records_${name}_total`), name).toBeGreaterThanOrEqual(count)
    const lines = tracker.logger.lines.filter(({ text }) => text === 'a record was refused')
    expect(lines.map(({ level, detail }) => [level, 'kind' in detail && detail.kind])).toEqual([
      ['warn', 'recordsForged'],
      ['warn', 'recordsStale'],
      ['warn', 'recordsTooLarge'],
    ])
    expect(lines[0]?.detail).toMatchObject({ record: `/runnel/alive/${tracker.nodeId}` })
    await node(tracker, part)
    expect((await tracker.view()).trackers.filter(({ linked }) => linked).length).toBe(1)
  })

  it('counts records of later versions and kinds, leaves them alone, and keeps the link', async () => {
    const attack = await attacked()
    const { tracker, identity, part } = attack
    const alive: RecordBody = { kind: 'alive', url: 'ws://x', nodes: 1, leads: 1, replicas: 1 }
    const now = Date.now()
    const record = { writer: identity.nodeId, writtenAt: now, expiresAt: now + 60_000, body: alive }
    const [kindAt, laterKind, laterVersion] = [33, 9, 2]
    const bytes = encodeRecord(record, identity, crypto)
    await put(attack, alive, { bytes: bytes.with(0, laterVersion) })
    await put(attack, alive, { bytes: bytes.with(kindAt, laterKind) })
    expect(await tracker.metric('cluster_records_unknown_total')).toBeGreaterThanOrEqual(2)
    expect(tracker.logger.lines.filter(({ text }) => text === 'a record was refused')).toEqual([])
    await put(attack, alive)
    expect(await tracker.metric('cluster_records_accepted_total')).toBeGreaterThanOrEqual(1)
    await node(tracker, part)
    expect((await tracker.view()).trackers.filter(({ linked }) => linked).length).toBe(1)
  })

  it('does not follow one that lies about what it leads, nor about who is in it', async () => {
    const attack = await attacked()
    const { tracker, part } = attack
    const first = await node(tracker, part)
    const lead: RecordBody = { kind: 'lead', streamPartId: part, chunks: 1, nodes: 3 }
    await put(attack, lead)
    expect(await tracker.metric('cluster_leads_disputed_total')).toBeGreaterThan(0)
    const { level, detail } = await tracker.logger.line(({ text }) =>
      text.startsWith('another tracker claims to lead'),
    )
    expect([level, detail]).toMatchObject(['warn', { tracker: attack.identity.nodeId, streamPartId: part }])
    const second = await node(tracker, part)
    await second.hasNeighbours(1)
    expect([second.neighbours, await tracker.view()]).toMatchObject([
      [first.nodeId],
      { leads: 1, circuitsOut: 0 },
    ])
  })

  it('believes no list of nodes from one that is there to hand it over', async () => {
    const attack = await attacked()
    const { tracker, part } = attack
    const [a, b] = [nodeId(1), nodeId(2)]
    const nodes = [
      { nodeId: a, contact: webrtcContact, neighbours: [b] },
      { nodeId: b, contact: webrtcContact, neighbours: [] },
    ]
    await put(attack, { kind: 'topology', streamPartId: part, chunk: 0, chunks: 1, nodes })
    await put(attack, { kind: 'lead', streamPartId: part, chunks: 1, nodes: 2 })
    expect(await tracker.metric('cluster_records_accepted_total')).toBeGreaterThanOrEqual(2)
    expect((await node(tracker, part)).neighbours).toEqual([])
    expect(await tracker.metric('cluster_replicas_found_total')).toBe(0)
  })

  it('has no circuit to where there is nobody, and goes on', async () => {
    const { tracker, network, part } = await attacked()
    const lost = network.openCircuit([tracker.nodeId, nodeId(9)])
    await expect(lost).rejects.toMatchObject({ code: 'CIRCUIT_UNAVAILABLE' })
    expect(await tracker.metric('cluster_circuits_refused_total')).toBe(1)
    await node(tracker, part)
  })

  it('believes nothing that comes by a circuit before it is proven, nor afterwards if it was changed', async () => {
    const { tracker, network, part } = await attacked()
    const channel = await network.openCircuit([tracker.nodeId])
    const closed = new Promise<void>((resolve) => {
      channel.events = { onFrame: () => {}, onDrain: () => {}, onClose: () => resolve() }
    })
    channel.send(new Uint8Array(50).fill(0xff))
    await closed
    expect(await tracker.view()).toMatchObject({ leads: 0 })
    await node(tracker, part)
  })
})
