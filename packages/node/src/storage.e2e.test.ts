import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { RunnelClient } from '@runnel/client'
import { toNodeId, toStreamPartId, type DirectPacket, type StreamId } from '@runnel/protocol'
import type { UsageReport } from '@runnel/storage/http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stopAll } from './cli.testkit.ts'
import {
  collect,
  reportOf,
  StorageNetwork,
  untilReport,
  type StorageProcess,
} from './storage-network.testkit.ts'

/** Processes start slowly on a busy machine. */
const timeoutMs = 300_000
const endOfTime = { timestamp: 2 ** 48 - 1, sequenceNumber: 2 ** 32 - 1 }

const inTheClear = { encryption: { content: 'never' } }

describe('storage nodes', { timeout: timeoutMs }, () => {
  const network = new StorageNetwork()
  let owner: RunnelClient
  let storageKey = ''
  let storage: StorageProcess

  beforeAll(async () => {
    await network.start()
    owner = await network.client({ privateKey: network.ownerKey })
    storageKey = network.newKey()
    storage = await network.startStorage('first', storageKey)
  }, timeoutMs)

  afterAll(async () => {
    await stopAll()
    await network.stop()
  }, timeoutMs)

  /** A stream kept by these storage nodes, which have joined it. */
  async function newStream(
    path: string,
    nodes: readonly StorageProcess[],
    isPublic = true,
  ): Promise<StreamId> {
    // In the clear: what is stored is compared with what was published.
    const { id } = await owner.createStream({ path, metadata: inTheClear })
    if (isPublic) await owner.grant(id, { user: 'public', permissions: ['publish', 'subscribe'] })
    for (const node of nodes) {
      await owner.addToStorageNode(id, node.nodeId)
      await untilReport(node, ({ kept }) => kept.includes(toStreamPartId(id, 0)))
    }
    return id
  }

  async function publish(streamId: string, from: number, count: number, publisher = owner) {
    const published = Array.from({ length: count }, (_, index) => publisher.publish(streamId, from + index))
    return Promise.all(published)
  }

  const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index)
  const contents = async (reader: RunnelClient, streamId: string, last: number) =>
    (await collect(reader.resend(streamId, { last }))).map(({ content }) => content)

  it('store what is published, say when it is durable, and send it again over WebSocket', async () => {
    const stream = await newStream('websocket', [storage])
    await owner.waitForStorage(await publish(stream, 0, 300))
    const reader = await network.client()
    expect(await contents(reader, stream, 1000)).toEqual(numbers(300))
    expect(await contents(reader, stream, 10)).toEqual(numbers(10, 290))
    const links = reader.network.metrics().counters['links.open']
    expect(links).toBe(1)
    expect(reader.network.streamParts).toEqual([])
  })

  it('send over WebRTC to who has nothing else', async () => {
    const hidden = await network.startStorage('hidden', network.newKey(), { websocket: false })
    const stream = await newStream('webrtc', [hidden])
    const publisher = await network.client({ transports: { websocket: {}, webrtc: {} } })
    await publisher.waitForStorage(await publish(stream, 0, 50, publisher))
    const reader = await network.client({ transports: { websocket: {}, webrtc: {} } })
    expect(await contents(reader, stream, 50)).toEqual(numbers(50))
  })

  it('give it over HTTP, to who may subscribe', async () => {
    const stream = await newStream('http', [storage], false)
    await owner.waitForStorage(await publish(stream, 0, 20))
    const url = `${storage.httpUrl}/v1/streams/${encodeURIComponent(stream)}/partitions/0/messages?last=5`
    const refused = await fetch(url)
    expect(refused.status).toBe(403)
    expect(await refused.json()).toMatchObject({ error: { code: 'NOT_PERMITTED' } })
    const env = { RUNNEL_PRIVATE_KEY: network.ownerKey }
    const { stdout } = await network.run(`storage token ${storage.nodeId}`, env)
    const answer = await fetch(url, { headers: { authorization: stdout.trim() } })
    const lines = (await answer.text()).trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { content: unknown }).content)).toEqual(numbers(5, 15))
  })

  it('give it over HTTP to who acts for a subscriber, by two headers', async () => {
    const stream = await newStream('http-as', [storage], false)
    await owner.waitForStorage(await publish(stream, 0, 3))
    const url = `${storage.httpUrl}/v1/streams/${encodeURIComponent(stream)}/partitions/0/messages?last=2`
    const asOwner = { RUNNEL_PRIVATE_KEY: network.ownerKey }
    const delegate = (file: string, rights: string) =>
      network.run(`key delegate --out ${file} --rights ${rights} --network ${network.networkFile}`, asOwner)
    await delegate('reader.delegation', 'read')
    const token = `storage token ${storage.nodeId} --as`
    const { stdout } = await network.run(`${token} reader.delegation`)
    const [authorization = '', delegation = '', end] = stdout.split('\n')
    expect(end).toBe('')
    const answer = await fetch(url, { headers: { authorization, 'runnel-delegation': delegation } })
    expect([answer.status, (await answer.text()).trim().split('\n').length]).toEqual([200, 2])
    const alone = await fetch(url, { headers: { authorization } })
    expect(alone.status).toBe(403)
    const shown: unknown = JSON.parse((await network.run(`${token} reader.delegation --json`)).stdout)
    expect(shown).toMatchObject({ 'runnel-delegation': delegation, authorization: expect.any(String) })

    await delegate('publisher.delegation', 'publish')
    expect(await network.run(`${token} publisher.delegation`)).toMatchObject({
      code: 77,
      stderr: expect.stringContaining('DELEGATION_SCOPE'),
    })
    expect(await network.run(`${token} reader.delegation --key x`)).toMatchObject({ code: 64 })
    expect(await network.run(`storage token ${storage.nodeId}`)).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('KEY_REQUIRED'),
    })
  })

  it('refuse who may not subscribe, and streams that are not', async () => {
    const stream = await newStream('secret', [storage], false)
    await owner.waitForStorage(await publish(stream, 0, 3))
    const stranger = await network.client()
    const part = {
      streamPartId: toStreamPartId(stream, 0),
      from: { timestamp: 0, sequenceNumber: 0 },
      to: endOfTime,
    }
    const signal = new AbortController().signal
    // Past the client's own check.
    await expect(collect(stranger.readStorageNode(storage.nodeId, part, signal))).rejects.toMatchObject({
      code: 'RESEND_DENIED',
      message: expect.stringContaining('NOT_PERMITTED'),
    })
    const last = `resend last 3 ${stream} --network ${network.networkFile}`
    expect(await network.run(last)).toMatchObject({
      code: 77,
      stderr: expect.stringContaining('NO_SUBSCRIBE'),
    })
    const gone = stream.replace('secret', 'gone')
    expect(await network.run(last.replace(stream, gone))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('STREAM_NOT_FOUND'),
    })
    expect(await askFor(stranger, gone)).toMatchObject({ type: 'resendEnd', code: 'UNKNOWN_STREAM' })
    const unkept = await newStream('unkept', [])
    expect(await network.run(last.replace(stream, unkept))).toMatchObject({
      code: 69,
      stderr: expect.stringContaining('NO_STORAGE_NODE'),
    })
  })

  /** What the storage node answers to a request no client would make. */
  async function askFor(client: RunnelClient, streamId: string): Promise<DirectPacket> {
    const nodeId = toNodeId(storage.nodeId)
    const [{ url = '' } = {}] = (await client.listStorageNodes()).filter((node) => node.nodeId === nodeId)
    const contact = { addresses: [{ kind: 'websocket', text: url }], dials: ['websocket'] }
    const streamPartId = toStreamPartId(streamId as StreamId, 0)
    const answer = new Promise<DirectPacket>((resolve) => {
      client.network.on('direct', (_, packet) => {
        if ('requestId' in packet && packet.requestId === 4_000_000) resolve(packet)
      })
    })
    const link = await client.network.connect({ nodeId, contact }, { streamPartId })
    const rest = { publisherId: undefined, messageChainId: undefined, windowBytes: 1000, token: undefined }
    const selection = { kind: 'last', count: 1 } as const
    client.network.sendDirect(nodeId, {
      type: 'resend',
      requestId: 4_000_000,
      streamPartId,
      selection,
      ...rest,
    })
    return answer.finally(() => link.release())
  }

  it('keep what they acknowledged when they are killed, and go on after a restart', async () => {
    const stream = await newStream('killed', [storage])
    for (let round = 0; round < 5; round++)
      await owner.waitForStorage(await publish(stream, 100 * round, 100))
    // More of which nothing is known yet.
    const unknown = publish(stream, 500, 100)
    storage.command.process.kill('SIGKILL')
    await storage.command.ended
    await unknown
    storage = await network.startStorage('first', storageKey)
    await untilReport(storage, ({ kept }) => kept.includes(toStreamPartId(stream, 0)))
    const reader = await network.client()
    const stored = await contents(reader, stream, 1000)
    expect(stored.slice(0, 500)).toEqual(numbers(500))
  })

  it('store what was published while one was restarted, also where no other stores it and it forwards', async () => {
    const stream = await newStream('restarted', [storage])
    await (await network.client()).subscribe(stream)
    await owner.waitForStorage(await publish(stream, 0, 1))
    storage.command.process.kill('SIGTERM')
    await storage.command.ended
    const missed = await publish(stream, 1, 10)
    storage = await network.startStorage('first', storageKey, { flags: ['--stream', stream] })
    await owner.waitForStorage(missed)
    expect(await contents(await network.client(), stream, 1000)).toEqual(numbers(11))
  })

  it.each([
    ['public', true],
    ['private', false],
  ])('repair themselves from each other after an outage, of a %s stream', async (name, isPublic) => {
    const key = network.newKey()
    const stopped = await network.startStorage(`second-${name}`, key)
    const stream = await newStream(`repaired/${name}`, [storage, stopped], isPublic)
    await owner.waitForStorage(await publish(stream, 0, 100), { count: 2 })
    stopped.command.process.kill('SIGTERM')
    await stopped.command.ended
    await owner.waitForStorage(await publish(stream, 100, 100))
    const second = await network.startStorage(`second-${name}`, key)
    const { usage } = await untilReport(second, ({ usage }) => messagesOf(usage, stream) === 200)
    expect(messagesOf(usage, stream)).toBe(200)

    // A third one is new to the stream, and copies everything.
    const third = await network.startStorage(`third-${name}`, network.newKey())
    await owner.addToStorageNode(stream, third.nodeId)
    await untilReport(third, ({ usage }) => messagesOf(usage, stream) === 200)
    for (const node of [storage, second]) await owner.removeFromStorageNode(stream, node.nodeId)
    const reader = isPublic ? await network.client() : owner
    expect(await contents(reader, stream, 1000)).toEqual(numbers(200))
  })

  it('keep what they keep, however much others assign, and say who uses how much', async () => {
    const flags = ['--storage-max-stream-parts', '4']
    const small = await network.startStorage('small', network.newKey(), { flags })
    const mine = [await newStream('mine/a', [small]), await newStream('mine/b', [small])]
    await owner.waitForStorage(await publish(mine[0] ?? '', 0, 10))

    const other = await network.client({ privateKey: network.newKey() })
    const { id: theirs } = await other.createStream({ path: 'many', partitions: 10, metadata: inTheClear })
    await other.addToStorageNode(theirs, small.nodeId)
    const { kept } = await untilReport(small, ({ kept }) => kept.length === 4)
    for (const id of mine) expect(kept).toContain(toStreamPartId(id, 0))
    // Said at once, and not when it was waited for long enough.
    const message = await other.publish(theirs, 'x', { partition: 9 })
    await expect(other.waitForStorage(message, { timeoutMs: 2 ** 31 - 1 })).rejects.toMatchObject({
      code: 'NOT_STORED_IN_TIME',
      message: expect.stringContaining('NOT_ACCEPTED') as string,
    })

    const { stdout } = await network.run(`storage usage ${small.httpUrl} --json`)
    const report = JSON.parse(stdout) as UsageReport
    expect(report).toMatchObject({ keptParts: 4, limits: { maxStreamParts: 4 } })
    expect(report.owners.map(({ owner: of, keptParts, messages }) => [of, keptParts, messages])).toEqual([
      [mine[0]?.slice(0, 42), 2, 10],
      [theirs.slice(0, 42), 2, 0],
    ])
    const lines = (await network.run(`storage usage ${small.httpUrl}`)).stdout
    expect(lines).toContain('4 of 4 stream parts')
    expect(await network.run('storage usage http://127.0.0.1:1')).toMatchObject({
      code: 69,
      stderr: expect.stringContaining('STORAGE_UNREACHABLE') as string,
    })
  })

  it('let live messages pass by a reader who takes nothing', async () => {
    const stream = await newStream('slow', [storage])
    const large = 'x'.repeat(100_000)
    const stored = []
    for (let index = 0; index < 200; index++) {
      stored.push(await owner.publish(stream, { index, large }))
      // Of what is published before anybody is attached, who attaches gets a bounded part.
      if (index === 0) await owner.waitForStorage(stored)
    }
    await owner.waitForStorage(stored)
    const before = await reportOf(storage)
    const slow = await network.client()
    const history = slow.resend(stream, { from: 0, to: Date.now() })
    const first = await history.next()
    expect(first.value).toMatchObject({ content: { index: 0 } })

    const live = await slow.subscribe(stream)
    const elsewhere = await (await network.client()).subscribe(stream)
    await Promise.all([live.waitForNeighbours(), elsewhere.waitForNeighbours()])
    await publish(stream, 0, 500)
    for (const subscription of [live, elsewhere]) {
      const received: unknown[] = []
      for await (const { content } of subscription) {
        // Of what was published a moment before, neighbours may give some.
        if (typeof content === 'number' && received.push(content) === 500) break
      }
      expect(received).toEqual(numbers(500))
    }
    const during = await reportOf(storage)
    expect(during.requests.active).toBe(1)
    // Of 20 MB that were asked for; what others miss when they join is counted too.
    expect(during.requests.sentBytes - before.requests.sentBytes).toBeLessThan(10e6)

    const rest = await collect(history)
    expect(rest.map(({ content }) => (content as { index: number }).index)).toEqual(numbers(199, 1))
    await untilReport(storage, ({ requests }) => requests.active === 0)
  })

  it('go on delivering while the store is damaged, say what to do, and recover once that is done', async () => {
    const file = join(network.directory, 'damaged', 'messages.sqlite')
    mkdirSync(dirname(file))
    writeFileSync(file, 'no database '.repeat(1000))
    const stream = await newStream('damaged', [])
    const flags = ['--observer-streams', stream]
    const damaged = await network.startStorage('damaged', network.newKey(), { flags })
    await damaged.command.said(/STORE_CORRUPT/)
    expect(damaged.command.stderr()).toContain(file)
    expect(damaged.command.stderr()).toContain('move the file')
    expect(await reportOf(damaged)).toMatchObject({ isHealthy: false, usage: [] })
    const url = `${damaged.httpUrl}/v1/streams/${encodeURIComponent(stream)}/partitions/0/messages?last=5`
    const refused = await fetch(url)
    expect([refused.status, await refused.json()]).toMatchObject([503, { error: { code: 'STORE_FAILED' } }])

    await publish(stream, 0, 30)
    let delivered = 0
    while (delivered < 30) {
      const { plugins } = (await (await fetch(`${damaged.httpUrl}/v1/status`)).json()) as {
        plugins: { observer: { observed: { delivered: number }[] } }
      }
      delivered = plugins.observer.observed[0]?.delivered ?? 0
    }
    renameSync(file, `${file}.damaged`)
    await untilReport(damaged, ({ isHealthy }) => isHealthy)
    await owner.addToStorageNode(stream, damaged.nodeId)
    await untilReport(damaged, ({ kept }) => kept.includes(toStreamPartId(stream, 0)))
    await owner.waitForStorage(await publish(stream, 30, 10))
  })

  it('stop serving who goes away', async () => {
    const stream = await newStream('gone', [storage])
    const large = 'x'.repeat(100_000)
    const stored = []
    for (let index = 0; index < 100; index++) stored.push(await owner.publish(stream, large))
    await owner.waitForStorage(stored)
    const reader = await network.client()
    const history = reader.resend(stream, { from: 0 })
    await history.next()
    await untilReport(storage, ({ requests }) => requests.active === 1)
    await reader.close()
    await untilReport(storage, ({ requests }) => requests.active === 0)
  })
})

function messagesOf(
  usage: readonly { readonly streamPartId: string; readonly messages: number }[],
  streamId: string,
): number {
  return usage.find(({ streamPartId }) => streamPartId.startsWith(`${streamId}#`))?.messages ?? 0
}
