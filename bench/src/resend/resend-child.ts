import { createClient, type ClientConfig, type RunnelClient } from '@runnel/client'
import { parseConfig, startBroker, type BrokerConfigInput } from '@runnel/node'
import {
  buildBatch,
  ContentType,
  createIdentity,
  loadCrypto,
  parsePrivateKey,
  toStreamId,
  type MessageBatch,
  type MessageRef,
} from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { createStore } from '@runnel/storage'
import { bareDataChannel, type BareEnd, type BareSignal } from '../bare/bare-data-channel.ts'
import { dialBareWebSocket, listenBareWebSocket } from '../bare/bare-websocket.ts'
import { answerCalls } from '../child-calls.ts'
import { percentile } from '../statistics.ts'
import { readBare, serveBare } from './bare-resend.ts'
import { MemoryWatch } from './memory-watch.ts'

/** What the parent can have either process do: each call is answered with what the function returns. */
const calls = {
  fill,
  serve,
  connect,
  read,
  watchMemory: () => memory.begin(),
  memoryGrowth: () => memory.end(),
  subscribe,
  latencies,
  bareServe,
  bareRead,
  signal: (signal: BareSignal) => bareEnd?.receive(signal),
}
export type ResendCalls = typeof calls

const memory = new MemoryWatch()
let client: RunnelClient | undefined
let delaysMs: number[] = []

export interface FillOptions {
  readonly directory: string
  readonly streamId: string
  readonly privateKey: string
  readonly messages: number
  readonly perBatch: number
  readonly messageBytes: number
}

/** Stores signed messages as if they had come. */
async function fill(options: FillOptions): Promise<void> {
  const store = createStore({ engine: 'sqlite', directory: options.directory }, { clock: systemClock })
  await store.open()
  const batches = await makeBatches(options)
  for (let at = 0; at < batches.length; at += 500) await store.append(batches.slice(at, at + 500))
  await store.close()
}

async function makeBatches({ streamId, privateKey, messages, perBatch, messageBytes }: FillOptions) {
  const crypto = await loadCrypto()
  const publisher = createIdentity(parsePrivateKey(privateKey), crypto)
  const chain = {
    streamId: toStreamId(streamId),
    partition: 0,
    publisherId: publisher.nodeId,
    messageChainId: 'h',
  }
  const startMs = Date.now() - messages
  const batches: MessageBatch[] = []
  let previous: MessageRef | undefined
  for (let made = 0; made < messages; made += perBatch) {
    const drafts = Array.from({ length: Math.min(perBatch, messages - made) }, (_, index) => {
      const place = { timestamp: startMs + made + index, sequenceNumber: 0 }
      const draft = {
        ...{ ...place, previous, contentType: ContentType.binary, encryptionType: 0, groupKeyId: '' },
        content: new Uint8Array(messageBytes),
      }
      previous = place
      return draft
    })
    batches.push(buildBatch({ chain, messages: drafts }, crypto, publisher))
  }
  return batches
}

/** Runs a storage node. */
async function serve(config: BrokerConfigInput, privateKey: string): Promise<void> {
  await startBroker(parseConfig(config), { env: { RUNNEL_PRIVATE_KEY: privateKey } })
}

async function connect(config: ClientConfig): Promise<void> {
  client = await createClient(config)
}

export interface ReadFigures {
  readonly messages: number
  readonly ms: number
  readonly firstMs: number
}

async function read(streamId: string, last: number): Promise<ReadFigures> {
  if (client === undefined) throw new Error('not connected')
  const startMs = performance.now()
  let firstMs = 0
  let messages = 0
  for await (const message of client.resend(streamId, { last })) {
    if (message.content !== undefined && messages++ === 0) firstMs = performance.now() - startMs
  }
  return { messages, ms: performance.now() - startMs, firstMs }
}

/** Notes how long live messages were under way; their content is when they were published. */
async function subscribe(streamId: string): Promise<void> {
  if (client === undefined) throw new Error('not connected')
  const subscription = await client.subscribe(streamId, {}, ({ content }) => {
    delaysMs.push(performance.timeOrigin + performance.now() - Number(content))
  })
  await subscription.waitForNeighbours()
}

/** Of the live messages since the last call. */
function latencies(): { count: number; p50: number; p99: number } {
  const samples = delaysMs
  delaysMs = []
  return { count: samples.length, p50: percentile(samples, 0.5), p99: percentile(samples, 0.99) }
}

let bareEnd: BareEnd | undefined

/** Sends the same bytes over a bare link, as many as are asked for on it. */
async function bareServe(transport: 'websocket' | 'webrtc', options: FillOptions): Promise<string> {
  const batches = await makeBatches(options)
  if (transport === 'websocket') return (await listenBareWebSocket((link) => serveBare(link, batches))).url
  bareEnd = bareDataChannel('answer', (signal) => process.send?.({ signal }))
  void bareEnd.open.then((link) => serveBare(link, batches))
  return ''
}

/** Milliseconds for so many batches over a bare link, after those that warm up. */
async function bareRead(
  transport: 'websocket' | 'webrtc',
  url: string,
  batches: { readonly warmUp: number; readonly all: number },
): Promise<number> {
  if (transport === 'webrtc') bareEnd = bareDataChannel('offer', (signal) => process.send?.({ signal }))
  return readBare(await (bareEnd?.open ?? dialBareWebSocket(url)), batches)
}

answerCalls(calls)
