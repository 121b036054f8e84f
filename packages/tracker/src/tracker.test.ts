import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { createConnection, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { isRunnelError, openOffersCapability, PacketType, parseStreamPartId } from '@runnel/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import {
  findStorage,
  nodeId,
  partA,
  partB,
  statusOf,
  storing,
  webrtcContact,
} from './core/tracker-core.testkit.ts'
import type { Tracker } from './create-tracker.ts'
import type { TrackerOptions } from './options.ts'
import { RealNode, startTracker, type RealNodeOptions } from './real-node.testkit.ts'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

async function tracker(options: TrackerOptions = {}): Promise<Tracker> {
  const started = await startTracker(options)
  stops.push(() => started.stop())
  return started
}

function realNode(options: RealNodeOptions = {}): RealNode {
  const node = new RealNode(options)
  stops.push(() => node.stop())
  return node
}

async function connected(to: Tracker, options: RealNodeOptions = {}): Promise<RealNode> {
  const node = realNode(options)
  await node.connect(to)
  return node
}

/** A port that passes what comes on to a tracker. */
async function tcpProxy(): Promise<{ port: number; proxyTo: (to: Tracker) => void }> {
  let target = 0
  const server = createServer((socket) => {
    const onward = createConnection(target, '127.0.0.1')
    pipeline(socket, onward, socket).catch(() => {})
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  stops.push(async () => void (await once(server.close(), 'close')))
  const { port } = server.address() as AddressInfo
  return { port, proxyTo: ({ httpUrl }) => (target = Number(new URL(httpUrl).port)) }
}

/** Two nodes that were told to connect. */
async function neighbours(to: Tracker): Promise<[RealNode, RealNode]> {
  const [a, b] = [await connected(to), await connected(to)]
  for (const node of [a, b]) node.send(statusOf(partA))
  await a.receive('instruction', (packet) => packet.neighbours.length === 1)
  await b.receive('instruction', (packet) => packet.neighbours.length === 1)
  return [a, b]
}

/** The tracker still serves. */
async function expectWell(to: Tracker): Promise<void> {
  const node = await connected(to)
  node.send(statusOf(partB))
  await node.receive('instruction')
}

describe('a tracker', () => {
  it('answers statuses with instructions, and relays signals between those it told to connect', async () => {
    const at = await tracker()
    const [a, b] = await neighbours(at)
    const { neighbours: wanted } = await a.receive('instruction', (packet) => packet.neighbours.length === 1)
    expect(wanted.map((each) => each.nodeId)).toEqual([b.nodeId])
    a.send({ type: 'signal', peerId: b.nodeId, sessionId: 7, kind: 'offer', payload: 'v=0' })
    expect(await b.receive('signal')).toEqual({
      type: 'signal',
      peerId: a.nodeId,
      sessionId: 7,
      kind: 'offer',
      payload: 'v=0',
    })
  })

  it('gives the offer that a node leaves with its join to the new neighbour', async () => {
    const at = await tracker()
    const neighbour = await connected(at)
    neighbour.send(statusOf(partA))
    await neighbour.receive('instruction')
    const capabilities = [{ name: openOffersCapability, required: true }]
    const node = await connected(at, { capabilities })
    node.send({ type: 'signal', peerId: node.nodeId, sessionId: 7, kind: 'offer', payload: 'v=0' })
    node.send(statusOf(partA))
    await neighbour.receive('instruction', (packet) => packet.neighbours.length === 1)
    const typesOf = ({ received }: RealNode) =>
      received.map(({ type }) => type).filter((type) => type !== 'iceServers')
    expect(typesOf(neighbour)).toEqual(['instruction', 'signal', 'instruction'])
    await node.receive('instruction')
    expect(typesOf(node)).toEqual(['offerTaken', 'instruction'])
    expect(await neighbour.receive('signal')).toMatchObject({ peerId: node.nodeId, sessionId: 7 })
    expect(await node.receive('offerTaken')).toMatchObject({ peerId: neighbour.nodeId, sessionId: 7 })
  })

  it('serves HTTP on the same port', async () => {
    const at = await tracker()
    await neighbours(at)
    expect(at.httpUrl).toBe(at.url.replace('ws:', 'http:'))
    const health = await fetch(`${at.httpUrl}/health`)
    expect(await health.json()).toEqual({ status: 'ok', nodeId: at.nodeId, nodes: 2, streamParts: 1 })
    const topology = await fetch(`${at.httpUrl}/v1/stream-parts/${encodeURIComponent(partA)}/topology`)
    expect(await topology.json()).toMatchObject({ nodeCount: 2, edgeCount: 1 })
    expect(await (await fetch(`${at.httpUrl}/metrics`)).text()).toContain('connections_opened_total 2\n')
  })

  it('hands out ICE servers', async () => {
    const ice = {
      servers: ['stun:stun.example.org:3478'],
      turn: { urls: ['turn:turn.example.org'], secret: 's' },
    }
    const node = await connected(await tracker({ ice }))
    const { servers, ttlS } = await node.receive('iceServers')
    expect(ttlS).toBe(86_400)
    expect(servers.map(({ url }) => url)).toEqual(['stun:stun.example.org:3478', 'turn:turn.example.org'])
    expect(servers[1]?.username).toMatch(new RegExp(`^\\d+:${node.nodeId}$`))
  })

  it('tells who stores a stream part to a node that is not in it, and lets the two signal', async () => {
    const at = await tracker()
    const [store, other] = await neighbours(at)
    const asker = await connected(at)
    const signal = { type: 'signal', sessionId: 3, kind: 'offer', payload: 'v=0' } as const
    asker.send({ ...signal, peerId: store.nodeId })
    await asker.receive('trackerError', ({ code }) => code === 'SIGNAL_NOT_ALLOWED')
    store.send(storing(partA))
    // Its own question comes after its offer, so that the offer has arrived when the answer is here.
    store.send(findStorage(partA))
    await store.receive('storageNodes')
    asker.send(findStorage(partA, 9))
    expect(await asker.receive('storageNodes')).toEqual({
      type: 'storageNodes',
      requestId: 9,
      streamPartId: partA,
      nodes: [{ nodeId: store.nodeId, contact: webrtcContact }],
    })
    asker.send({ ...signal, peerId: store.nodeId })
    expect(await store.receive('signal')).toEqual({ ...signal, peerId: asker.nodeId })
    store.send({ ...signal, kind: 'answer', peerId: asker.nodeId })
    expect(await asker.receive('signal')).toEqual({ ...signal, kind: 'answer', peerId: store.nodeId })
    expect(other.received.filter(({ type }) => type === 'signal' || type === 'storageNodes')).toEqual([])
    const listed = await fetch(`${at.httpUrl}/v1/stream-parts`)
    expect(await listed.json()).toMatchObject({
      streamParts: [{ streamPartId: partA, storageNodeCount: 1, storageNodes: [store.nodeId] }],
    })
  })

  it('forgets a storage node whose connection is gone', async () => {
    const at = await tracker()
    const [store, other] = await neighbours(at)
    store.send(storing(partA))
    store.send(findStorage(partA))
    await store.receive('storageNodes')
    other.send(findStorage(partA, 1))
    expect((await other.receive('storageNodes')).nodes).toHaveLength(1)
    await connected(at, { identity: store.identity })
    await store.closed
    other.send(findStorage(partA, 2))
    expect((await other.receive('storageNodes', ({ requestId }) => requestId === 2)).nodes).toEqual([])
  })

  it('keeps the newer of two connections of one node', async () => {
    const at = await tracker()
    const [a, b] = await neighbours(at)
    const again = await connected(at, { identity: b.identity })
    expect(await b.closed).toMatchObject({ code: 'REPLACED', remote: true })
    again.send(statusOf(partA))
    const told = await again.receive('instruction')
    expect(told.neighbours.map((each) => each.nodeId)).toEqual([a.nodeId])
    expect(told.counter).toBeGreaterThan(1)
    a.send({ type: 'signal', peerId: b.nodeId, sessionId: 1, kind: 'candidate', payload: '0\nx' })
    await again.receive('signal')
  })

  it('starts and stops as often as one likes, and only once in effect', async () => {
    const at = await tracker()
    await Promise.all([at.start(), at.start()])
    const node = await connected(at)
    const { httpUrl } = at
    await Promise.all([at.stop(), at.stop()])
    expect(await node.closed).toMatchObject({ code: 'SHUTTING_DOWN' })
    await expect(fetch(`${httpUrl}/health`)).rejects.toThrow()
    await expect(at.start()).rejects.toMatchObject({ code: 'TRACKER_STOPPED' })
    expect([at.url, at.httpUrl]).toEqual(['', ''])
  })

  it('says when its port is taken', async () => {
    const at = await tracker()
    const port = Number(new URL(at.url).port)
    await expect(startTracker({ listen: { port } })).rejects.toMatchObject({ code: 'PORT_IN_USE' })
  })

  it('refuses options that make no sense', async () => {
    for (const options of [
      { degree: 1 },
      { degree: 65 },
      { limits: { maxNodes: -1 } },
      { overlay: 'best' as 'random' },
      { streamOverlays: { [parseStreamPartId(partA).streamId]: 'best' as 'random' } },
      { processingMs: -1 },
      { ice: { servers: ['x'] } },
    ])
      await expect(startTracker(options)).rejects.toMatchObject({ code: 'INVALID_TRACKER_OPTIONS' })
  })
})

describe('a hostile peer of a tracker', () => {
  it('ends its own connection with garbage', async () => {
    const at = await tracker()
    const kinds = ['status', 'signal', 'nodeInfo', 'leave', 'storing', 'findStorage'] as const
    for (const kind of kinds) {
      const node = await connected(at)
      node.sendBytes(Uint8Array.of(PacketType[kind], 3, 0xff, 0xff, 0xff))
      expect(['MALFORMED_PACKET', 'LIMIT_EXCEEDED']).toContain((await node.closed).code)
    }
    await expectWell(at)
  })

  it('may speak a later version: what is unknown here is counted', async () => {
    const at = await tracker()
    const node = await connected(at)
    node.sendBytes(Uint8Array.of(0x5f, 2, 1, 2))
    node.send(statusOf(partA))
    await node.receive('instruction')
    expect(await at.metrics()).toContain('runnel_tracker_packets_unknown_total 1\n')
  })

  it('ends its own connection with packets that are not for trackers', async () => {
    const at = await tracker()
    const node = await connected(at)
    node.send({ type: 'trackerError', code: 'X', message: '' })
    expect(await node.closed).toMatchObject({ code: 'NOT_FOR_TRACKERS', remote: true })
    await expectWell(at)
  })

  it('has to be a node', async () => {
    const other = realNode({ role: 'tracker' })
    await other.connect(await tracker(), false)
    expect(await other.closed).toMatchObject({ code: 'NOT_A_NODE' })
  })

  it('may dial it by any of its addresses, and by no other', async () => {
    const { port, proxyTo } = await tcpProxy()
    const url = `ws://127.0.0.1:${port}`
    const listen = { port: 0, publicUrl: 'ws://tracker.example' }
    const unaware = await tracker({ listen })
    const aware = await tracker({ listen: { ...listen, alsoKnownAs: ['ws://inside:8080', url] } })
    proxyTo(unaware)
    await expect(realNode().connect({ nodeId: unaware.nodeId, url })).rejects.toMatchObject({
      code: 'HANDSHAKE_FAILED',
    })
    proxyTo(aware)
    await realNode().connect({ nodeId: aware.nodeId, url })
  })

  it('has to say first how it is reached', async () => {
    const node = realNode()
    await node.connect(await tracker(), false)
    node.send(statusOf(partA))
    expect(await node.closed).toMatchObject({ code: 'NODE_INFO_MISSING' })
  })

  it('cannot reach strangers through it', async () => {
    const at = await tracker()
    const [a] = await neighbours(at)
    const stranger = await connected(at)
    stranger.send(statusOf(partB))
    const signal = { type: 'signal', sessionId: 1, kind: 'offer', payload: '' } as const
    stranger.send({ ...signal, peerId: a.nodeId })
    await stranger.receive('trackerError', ({ code }) => code === 'SIGNAL_NOT_ALLOWED')
    stranger.send({ ...signal, peerId: nodeId(1) })
    await stranger.receive('trackerError', ({ code }) => code === 'SIGNAL_TARGET_UNKNOWN')
    expect(a.received.filter(({ type }) => type === 'signal')).toEqual([])
  })

  it('cannot take an id it has no key for', async () => {
    const at = await tracker()
    const [a, b] = await neighbours(at)
    const thief = realNode({
      identity: { nodeId: b.nodeId, sign: (digest) => realNode().identity.sign(digest) },
    })
    const error = await thief.connect(at).then(
      () => thief.closed,
      (failure: unknown) => failure,
    )
    expect(isRunnelError(error) ? error.code : (error as { code: string }).code).toBe('HANDSHAKE_FAILED')
    a.send({ type: 'signal', peerId: b.nodeId, sessionId: 1, kind: 'offer', payload: 'x' })
    await b.receive('signal')
  })

  it('is cut off when it floods statuses', async () => {
    const at = await tracker({ limits: { statusBurst: 50, statusesPerSecond: 1 } })
    const node = await connected(at)
    for (let i = 0; i < 100; i++) node.send(statusOf(partA))
    expect(await node.closed).toMatchObject({ code: 'TOO_MANY_PACKETS' })
    expect(await at.metrics()).toContain('floods_refused_total 1\n')
    await expectWell(at)
  })

  it('is refused, then cut off when it floods questions for storage nodes', async () => {
    const limits = {
      storageQuestionBurst: 3,
      storageQuestionsPerSecond: 0,
      errorBurst: 2,
      errorsPerSecond: 0,
    }
    const at = await tracker({ limits })
    const node = await connected(at)
    for (let i = 0; i < 10; i++) node.send(findStorage(partA, i))
    expect(await node.closed).toMatchObject({ code: 'TOO_MANY_PACKETS' })
    expect(node.received.filter(({ type }) => type === 'storageNodes')).toHaveLength(3)
    expect(node.received).toContainEqual(expect.objectContaining({ code: 'STORAGE_RATE' }))
    await expectWell(at)
  })

  it('is answered, then cut off when it floods signals', async () => {
    const limits = { signalBurst: 2, signalsPerSecond: 0, errorBurst: 5, errorsPerSecond: 0 }
    const at = await tracker({ limits })
    const node = await connected(at)
    for (let i = 0; i < 20; i++)
      node.send({ type: 'signal', peerId: nodeId(1), sessionId: i, kind: 'offer', payload: 'x'.repeat(1000) })
    expect(await node.closed).toMatchObject({ code: 'TOO_MANY_PACKETS' })
    expect(node.received.filter(({ type }) => type === 'trackerError').length).toBe(2 + 5)
  })

  it('does not get in when there are too many nodes', async () => {
    const at = await tracker({ limits: { maxNodes: 3 } })
    await neighbours(at)
    await connected(at)
    const late = realNode()
    await late.connect(at, false)
    expect(await late.closed).toMatchObject({ code: 'TOO_MANY_NODES', remote: true })
  })

  it('may send it anything that is no WebSocket of this protocol', async () => {
    const at = await tracker()
    for (const bytes of [new Uint8Array(0), new Uint8Array(1), new Uint8Array(10_000).fill(0xff), 'text']) {
      const socket = new WebSocket(at.url)
      const closed = new Promise((resolve) => socket.addEventListener('close', resolve))
      socket.addEventListener('open', () => socket.send(bytes))
      await closed
    }
    await expectWell(at)
  })
})

describe('a tracker with a certificate', () => {
  it('speaks TLS for both, and takes no options without a usable one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tracker-tls-'))
    stops.push(async () => rmSync(folder, { recursive: true }))
    const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
    const files = ['-keyout', keyFile, '-out', certFile]
    const kind = [
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '1',
    ]
    execFileSync('openssl', ['req', ...kind, ...subject, ...files], { stdio: 'ignore' })
    const tls = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
    const at = await tracker({ listen: { tls } })
    expect(at.url).toMatch(/^wss:/)
    expect(at.httpUrl).toMatch(/^https:/)
    const node = await connected(at, { trustedCertificates: tls.cert })
    node.send(statusOf(partA))
    await node.receive('instruction')
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
    request(`${at.httpUrl}/health`, { ca: tls.cert, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .once('error', reject)
      .end()
    expect(await promise).toBe(200)
    await expect(connected(at)).rejects.toMatchObject({ code: 'TLS_FAILED' })
    await expect(startTracker({ listen: { tls: { cert: 'x', key: 'y' } } })).rejects.toMatchObject({
      code: 'INVALID_TRACKER_OPTIONS',
    })
  })
})
