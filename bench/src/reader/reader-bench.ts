import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type DurableReader, type ReaderMessage, type RunnelClient } from '@runnel/client'
import { parseConfig, startBroker } from '@runnel/node'
import { createIdentity, generatePrivateKey, loadCrypto } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker } from '@runnel/tracker'
import { beginPhase } from '../phase.ts'
import { benchError } from '../errors.ts'
import { freePort } from '@runnel/transport'
import { within } from '../settling.ts'
import { percentile, round } from '../statistics.ts'

export interface ReaderBenchOptions {
  readonly messages: number
  /** Message chains that they are spread over. */
  readonly publishers: number
  readonly limitS: number
}

const messageBytes = 200
const measuredRounds = 3

/**
 * Messages a second to a durable reader that acknowledges each, beside a plain subscription to as many in turns with it; how long the last
 * acknowledgements take to be stored; what its cursor takes; and how long the share of a member that is gone without a word waits for
 * another. The tracker, the storage node and all clients are in one process.
 */
export async function readerBench({ messages, publishers, limitS }: ReaderBenchOptions) {
  const crypto = await loadCrypto()
  const newKey = () => Buffer.from(generatePrivateKey(systemRandom)).toString('hex')
  const idOf = (key: string) => createIdentity(Buffer.from(key, 'hex'), crypto).nodeId
  const directory = mkdtempSync(join(tmpdir(), 'runnel-reader-'))
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const tracker = createTracker(
    { listen: { port: 0 } },
    { identity, crypto, clock: systemClock, random: systemRandom },
  )
  await tracker.start()
  const [storageKey, port] = [newKey(), await freePort()]
  const storageNodes = [{ nodeId: idOf(storageKey), url: `ws://127.0.0.1:${port}` }]
  const permissions = [{ user: 'public', publish: true, subscribe: true }]
  const [plain, durable, shared] = ['plain', 'durable', 'shared'].map((path) => `${identity.nodeId}/${path}`)
  if (plain === undefined || durable === undefined || shared === undefined) throw new Error('three streams')
  const document = {
    version: 1 as const,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [plain, durable, shared].map((id) => ({ id, permissions, storageNodes })),
  }
  const network = join(directory, 'network.json')
  writeFileSync(network, JSON.stringify(document))
  const broker = await startBroker(
    parseConfig({
      ...{ network, logLevel: 'error', http: { enabled: false } },
      ...{ websocket: { port }, webrtc: { enabled: false } },
      storage: { enabled: true, directory: join(directory, 'storage') },
    }),
    { env: { RUNNEL_PRIVATE_KEY: storageKey }, directory },
  )
  const clients: RunnelClient[] = []
  const connect = async (privateKey = newKey()) => {
    const client = await createClient({
      ...{ privateKey, network: { kind: 'static', document } },
      transports: { websocket: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false },
    })
    clients.push(client)
    return client
  }
  const measure = async () => {
    const sources = await Promise.all(Array.from({ length: publishers }, () => connect()))
    const userKey = newKey()
    const subscriber = await connect(userKey)
    const publish = async (stream: string) => {
      const share = Math.ceil(messages / publishers)
      await Promise.all(
        sources.map((source) => source.publishMany(stream, Array.from({ length: share }, contentOf))),
      )
    }
    const count = Math.ceil(messages / publishers) * publishers
    const subscription = await subscriber.subscribe(plain, { maxQueuedMessages: count })
    await subscription.waitForNeighbours()
    const reader = await subscriber.reader(durable, { name: 'bench', maxInFlight: 1_000 })
    const rounds = { plainMs: [] as number[], readMs: [] as number[], storeMs: [] as number[] }
    // In turns, and the first round is for the compiler.
    for (let i = 0; i <= measuredRounds; i++) {
      beginPhase(`plain subscription, round ${i} of ${measuredRounds}`)
      const plainMs = await timed(() => Promise.all([publish(plain), takeAll(subscription, count)]))
      beginPhase(`durable reader, round ${i} of ${measuredRounds}`)
      const readMs = await timed(() =>
        Promise.all([publish(durable), takeAll(reader, count, (message) => message.ack())]),
      )
      const storeMs = await timed(() => reader.flush())
      if (i === 0) continue
      rounds.plainMs.push(plainMs)
      rounds.readMs.push(readMs)
      rounds.storeMs.push(storeMs)
    }
    const plainMs = percentile(rounds.plainMs, 0.5)
    const readMs = percentile(rounds.readMs, 0.5)
    const storeMs = Math.round(percentile(rounds.storeMs, 0.5))
    const { cursorBytes } = reader.counters()
    beginPhase('a lost share')
    const takeoverMs = await takeover(shared, sources[0] ?? subscriber, [
      await connect(userKey),
      await connect(userKey),
    ])
    return {
      ...{ bench: 'reader', messages: count, messageBytes, publishers },
      reader: { messagesPerS: Math.round(count / (readMs / 1000)), storeMs, cursorBytes },
      takeover: { ms: Math.round(takeoverMs), silentAfterMs: 10_000 },
      baseline: {
        what: 'a plain subscription to as many messages of the same publishers',
        messagesPerS: Math.round(count / (plainMs / 1000)),
      },
      ratio: { messagesPerSToPlain: round(plainMs / readMs) },
    }
  }
  try {
    return await within(limitS * 1000, 'reading', measure())
  } finally {
    await Promise.all(clients.map((client) => client.close()))
    await broker.stop()
    await tracker.stop()
    rmSync(directory, { recursive: true })
  }
}

/** How long the messages that a member was given, and did not acknowledge, wait for the other when it is gone. */
async function takeover(
  stream: string,
  source: RunnelClient,
  members: readonly [RunnelClient, RunnelClient],
) {
  const options = { name: 'takeover', group: true, spread: 'message' } as const
  const [stays, goes] = [await members[0].reader(stream, options), await members[1].reader(stream, options)]
  await source.publishMany(stream, Array.from({ length: 100 }, contentOf))
  const seen = new Set<unknown>()
  const all = Promise.withResolvers<void>()
  void take(stays, (message) => {
    message.ack()
    seen.add(`${message.messageChainId} ${message.timestamp} ${message.sequenceNumber}`)
    if (seen.size === 100) all.resolve()
  })
  const given = Promise.withResolvers<void>()
  void take(goes, () => given.resolve())
  await given.promise
  return timed(async () => {
    await members[1].network.stop()
    await all.promise
  })
}

async function take(reader: DurableReader, each: (message: ReaderMessage) => void): Promise<void> {
  for await (const message of reader) each(message)
}

async function takeAll<T>(
  items: AsyncIterable<T>,
  count: number,
  each: (item: T) => void = () => {},
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]()
  for (let taken = 0; taken < count; taken++) {
    const { done, value } = await iterator.next()
    if (done === true) throw benchError('INCOMPLETE', `it ended after ${taken}`)
    each(value)
  }
}

const contentOf = (_: unknown, i: number): Uint8Array => new Uint8Array(messageBytes).fill(i)

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}
