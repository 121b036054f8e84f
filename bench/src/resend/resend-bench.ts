import { fork } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient, type ClientConfig, type RunnelClient } from '@runnel/client'
import { createIdentity, generatePrivateKey, loadCrypto, type Crypto, type NodeId } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker } from '@runnel/tracker'
import { beginPhase, showProgress } from '../phase.ts'
import type { BareSignal } from '../bare/bare-data-channel.ts'
import { ChildCalls } from '../child-calls.ts'
import { benchError } from '../errors.ts'
import { freePort } from '@runnel/transport'
import { round } from '../statistics.ts'
import { IdleLinks, newcomers } from './newcomers.ts'
import type { FillOptions, ResendCalls } from './resend-child.ts'

type ResendTransport = 'webrtc' | 'websocket'

export interface ResendBenchOptions {
  readonly transports: readonly ResendTransport[]
  readonly messages: number
  /** Messages under one signature, as a publisher at a high rate makes them. */
  readonly perBatch: number
}

const messageBytes = 200
/** Read beforehand on either link: what will be used is compiled then. */
const warmUpMessages = 2_000
/** Each its own signature: what limits then is checking them. */
const unbatchedShare = 1 / 10
const livePerS = 100
const liveMs = 3_000
/** As many unrequested links as a node accepts. */
const idleLinks = 64
const newClients = 20
const megabyte = 1024 * 1024

/** `last n` from a storage node in one process to a client in another, beside the same bytes over a bare link. */
export async function resendBench({ transports, messages, perBatch }: ResendBenchOptions) {
  const crypto = await loadCrypto()
  const figures: Partial<Record<ResendTransport, unknown>> = {}
  for (const transport of transports) {
    const unbatchedMessages = Math.max(1, Math.round(messages * unbatchedShare))
    beginPhase(`bare ${transport}`)
    const bareMs = await bareResend(crypto, transport, messages, perBatch)
    beginPhase(`${transport}, ${perBatch} a batch`)
    const batched = await benchOne(crypto, transport, messages, perBatch)
    beginPhase(`${transport}, one a batch, without workers`)
    const oneCore = await readSingle(crypto, transport, unbatchedMessages, 0)
    beginPhase(`${transport}, one a batch`)
    const unbatched = await readSingle(crypto, transport, unbatchedMessages, undefined)
    figures[transport] = {
      ...batched,
      unbatched: { messages: unbatchedMessages, ...unbatched, withoutWorkers: oneCore },
      baseline: {
        what: 'the same bytes over a bare link of the same transport, nothing stored, checked or decoded',
        seconds: round(bareMs / 1000),
        messagesPerS: round(messages / (bareMs / 1000)),
      },
      ratio: {
        secondsToBare: round((batched.seconds * 1000) / bareMs),
        withoutWorkersToWith: round(oneCore.again.seconds / unbatched.again.seconds),
      },
    }
  }
  return { bench: 'resend', messages, messageBytes, perBatch, cryptoBackend: crypto.backend, ...figures }
}

/** Messages that were signed one by one; `verificationWorkers` as in the reader's configuration. */
async function readSingle(
  crypto: Crypto,
  transport: ResendTransport,
  messages: number,
  verificationWorkers: number | undefined,
) {
  const {
    live: _,
    newcomers: __,
    ...figures
  } = await benchOne(crypto, transport, messages, 1, {
    verificationWorkers,
  })
  return figures
}

/** A tracker, a storage node and a reader, each on its own, and a publisher here. */
async function benchOne(
  crypto: Crypto,
  transport: ResendTransport,
  messages: number,
  perBatch: number,
  reading: Pick<ClientConfig, 'verificationWorkers'> = {},
) {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-resend-'))
  const [publisher, storageNode] = [newKey(crypto), newKey(crypto)]
  const tracker = createTracker(
    { listen: { port: 0 } },
    {
      identity: createIdentity(generatePrivateKey(systemRandom), crypto),
      ...{ crypto, clock: systemClock, random: systemRandom },
    },
  )
  await tracker.start()
  const port = transport === 'websocket' ? await freePort() : 1
  const [history, live] = ['history', 'live'].map((path) => `${publisher.nodeId}/${path}`) as [string, string]
  const document = {
    version: 1 as const,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [history, live].map((id) => ({
      id,
      permissions: [{ user: 'public', publish: true, subscribe: true }],
      storageNodes: [{ nodeId: storageNode.nodeId, url: `ws://127.0.0.1:${port}` }],
    })),
  }
  const network = join(directory, 'network.json')
  writeFileSync(network, JSON.stringify(document))
  const webrtc = transport === 'webrtc'
  const clientConfig = {
    network: { kind: 'static' as const, document },
    transports: { websocket: {}, webrtc: webrtc ? {} : (false as const) },
  }
  const [server, reader] = [startChild(), startChild()]
  let source: RunnelClient | undefined
  try {
    const storage = join(directory, 'storage')
    const filling = { directory: storage, streamId: history, privateKey: publisher.privateKey }
    showProgress(() => `storing ${messages} messages`)
    await server.call('fill', { ...filling, messages, perBatch, messageBytes })
    await server.call(
      'serve',
      {
        ...{ network, logLevel: 'error', http: { enabled: false }, webrtc: { enabled: webrtc } },
        websocket: { listen: !webrtc, port },
        storage: { enabled: true, directory: storage },
      },
      storageNode.privateKey,
    )
    await reader.call('connect', { ...clientConfig, ...reading })
    source = await createClient({ ...clientConfig, privateKey: publisher.privateKey })
    await reader.call('read', history, Math.min(warmUpMessages, messages))
    // The first time the garbage collector makes its spaces larger, and keeps them so; the second shows what a read takes.
    showProgress(() => `reading ${messages} messages`)
    const first = await readOnce([server, reader], history, messages)
    const again = await readOnce([server, reader], history, messages)
    await reader.call('subscribe', live)
    showProgress(() => 'live messages beside')
    const alone = await latencyWhile(source, live, reader, () => delay(liveMs))
    const during = await latencyWhile(source, live, reader, async () => {
      const endMs = performance.now() + liveMs
      while (performance.now() < endMs) await reader.call('read', history, messages)
    })
    const held = transport === 'websocket' && { nodeId: storageNode.nodeId, url: `ws://127.0.0.1:${port}` }
    return {
      ...{ ...first, again, live: { perS: livePerS, alone, duringResend: during } },
      ...(held && { newcomers: await newcomersBeside(held, crypto, { config: clientConfig, history }) }),
    }
  } finally {
    await source?.close()
    await Promise.all([server.stop(), reader.stop()])
    await tracker.stop()
    rmSync(directory, { recursive: true })
  }
}

/** New clients that read history, also while one peer holds all unrequested links of the storage node. */
async function newcomersBeside(
  target: { readonly nodeId: NodeId; readonly url: string },
  crypto: Crypto,
  { config, history }: { readonly config: ClientConfig; readonly history: string },
) {
  showProgress(() => 'newcomers')
  const alone = await newcomers(config, history, newClients)
  const idle = new IdleLinks(target, crypto)
  try {
    await idle.hold(idleLinks)
    const openBefore = idle.open
    const during = await newcomers(config, history, newClients)
    return { alone, idleLinks: openBefore, besideThem: during }
  } finally {
    await idle.stop()
  }
}

async function readOnce(
  processes: readonly [ResendProcess, ResendProcess],
  stream: string,
  messages: number,
) {
  const [server, reader] = processes
  for (const it of processes) await it.call('watchMemory')
  const { messages: read, ms, firstMs } = await reader.call('read', stream, messages)
  const [ofServer, ofReader] = await Promise.all([server.call('memoryGrowth'), reader.call('memoryGrowth')])
  if (read < messages) throw benchError('INCOMPLETE', `${read} of ${messages} messages came`)
  return {
    seconds: round(ms / 1000),
    messagesPerS: round(read / (ms / 1000)),
    firstMessageMs: round(firstMs),
    growthMb: {
      storageNode: { rss: round(ofServer.rss / megabyte), heap: round(ofServer.heap / megabyte) },
      reader: { rss: round(ofReader.rss / megabyte), heap: round(ofReader.heap / megabyte) },
    },
  }
}

/** Delays of live messages from this process to the reader, while something else goes on. */
async function latencyWhile(
  source: RunnelClient,
  stream: string,
  reader: ResendProcess,
  work: () => Promise<void>,
) {
  let failure: unknown
  const publish = () => {
    source.publish(stream, performance.timeOrigin + performance.now()).catch((error: unknown) => {
      failure = error
    })
  }
  await source.publish(stream, performance.timeOrigin + performance.now())
  await reader.call('latencies')
  const timer = setInterval(publish, 1000 / livePerS)
  await work()
  clearInterval(timer)
  if (failure !== undefined) throw failure
  const { count, p50, p99 } = await reader.call('latencies')
  return { messages: count, p50Ms: round(p50), p99Ms: round(p99) }
}

/** Milliseconds. */
async function bareResend(crypto: Crypto, transport: ResendTransport, messages: number, perBatch: number) {
  const server = startChild((signal) => void reader.call('signal', signal))
  // A signal that cannot be passed on ends the bench.
  const reader = startChild((signal) => void server.call('signal', signal))
  const { nodeId, privateKey } = newKey(crypto)
  const options: FillOptions = {
    ...{ directory: '', streamId: `${nodeId}/history`, privateKey, messages, perBatch, messageBytes },
  }
  const url = await server.call('bareServe', transport, options)
  const ms = await reader.call('bareRead', transport, url, {
    warmUp: Math.ceil(Math.min(warmUpMessages, messages) / perBatch),
    all: Math.ceil(messages / perBatch),
  })
  await Promise.all([server.stop(), reader.stop()])
  return ms
}

type ResendProcess = ChildCalls<ResendCalls>

/** A storage node or a reader, in a process of its own. */
function startChild(onSignal: (signal: BareSignal) => void = () => {}): ResendProcess {
  const child = fork(fileURLToPath(new URL('resend-child.ts', import.meta.url)), {
    execArgv: ['--conditions=runnel-src', '--expose-gc'],
  })
  child.on('message', (message: { readonly signal?: BareSignal }) => {
    if (message.signal !== undefined) onSignal(message.signal)
  })
  return new ChildCalls<ResendCalls>(child)
}

function newKey(crypto: Crypto) {
  const key = generatePrivateKey(systemRandom)
  return { privateKey: Buffer.from(key).toString('hex'), nodeId: createIdentity(key, crypto).nodeId }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
