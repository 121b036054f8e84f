import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createClient, type RunnelClient, type StaticNetwork } from '@runnel/client'
import { createIdentity, generatePrivateKey, loadCrypto } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker } from '@runnel/tracker'
import { beginPhase, showProgress } from '../phase.ts'
import { packed } from '../bare/bare-link.ts'
import { dialBareWebSocket } from '../bare/bare-websocket.ts'
import { ChildCalls } from '../child-calls.ts'
import { within } from '../settling.ts'
import { cpuUs, round } from '../statistics.ts'
import type { PublishCalls } from './publish-child.ts'

export interface PublishBenchOptions {
  /** Of each way to publish; a tenth of them one by one. */
  readonly messages: number
  readonly limitS: number
}

type Subscriber = ChildCalls<PublishCalls>

const messageBytes = 100
/** What an application may have under way at a time without waiting for room. */
const maxUnawaited = 20_000
const maxBareBytes = 1024 * 1024

/**
 * Messages a second from an application through the SDK to a subscriber in another process, over one WebSocket: signed, checked and in
 * order; beside the same contents over a bare WebSocket, packed into frames.
 */
export async function publishBench({ messages, limitS }: PublishBenchOptions) {
  const crypto = await loadCrypto()
  const child = fork(fileURLToPath(new URL('publish-child.ts', import.meta.url)), {
    execArgv: ['--conditions=runnel-src'],
  })
  const subscriber: Subscriber = new ChildCalls<PublishCalls>(child)
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const modules = { identity, crypto, clock: systemClock, random: systemRandom }
  const tracker = createTracker({ listen: { port: 0 } }, modules)
  await tracker.start()
  const streamId = `${tracker.nodeId}/measured`
  const document: StaticNetwork = {
    version: 1,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [{ id: streamId, permissions: [{ user: 'public', publish: true, subscribe: true }] }],
  }
  const network = { kind: 'static', document } as const
  const client = await createClient({ network, transports: { webrtc: false } })
  try {
    await subscriber.call('subscribe', document, streamId)
    return await within(limitS * 1000, 'publishing', measure({ client, subscriber, streamId, messages }))
  } finally {
    await client.close()
    await tracker.stop()
    await subscriber.stop()
  }
}

interface Setting {
  readonly client: RunnelClient
  readonly subscriber: Subscriber
  readonly streamId: string
  readonly messages: number
}

async function measure({ client, subscriber, streamId, messages }: Setting) {
  let sent = 0
  const next = () => `${sent++} `.padEnd(messageBytes, '.')
  const timed = async (what: string, count: number, publish: (count: number) => Promise<void>) => {
    beginPhase(what)
    const from = sent
    showProgress(() => `${sent - from} of ${count} published`)
    const [startMs, startUs] = [performance.now(), cpuUs()]
    await publish(count)
    const [publishedMs, publishedUs] = [performance.now(), cpuUs()]
    await subscriber.call('arrived', sent)
    return {
      messages: count,
      publishedPerS: round(count / ((publishedMs - startMs) / 1000)),
      deliveredPerS: round(count / ((performance.now() - startMs) / 1000)),
      publisherCpuUs: round((publishedUs - startUs) / count),
    }
  }
  const oneByOne = async (count: number) => {
    for (let i = 0; i < count; i++) await client.publish(streamId, next())
  }
  const unawaited = async (count: number) => {
    for (let left = count; left > 0; left -= maxUnawaited) {
      const together = Math.min(left, maxUnawaited)
      await Promise.all(Array.from({ length: together }, () => client.publish(streamId, next())))
    }
  }
  const many = async (count: number) => {
    await client.publishMany(streamId, Array.from({ length: count }, next))
  }
  await timed('warming up', messages / 10, many) // compiles what is measured
  const figures = {
    many: await timed('many at once', messages, many),
    unawaited: await timed('unawaited', messages, unawaited),
    oneByOne: await timed('one by one', messages / 10, oneByOne),
  }
  beginPhase('bare link')
  await publishBare(subscriber, Math.ceil(messages / 10)) // as above
  const bare = await publishBare(subscriber, messages)
  return {
    bench: 'publish',
    ...{ messageBytes, ...figures },
    baseline: { what: 'the same contents over a bare WebSocket, packed by turns, nothing signed', ...bare },
    ratio: { bareToMany: round(bare.deliveredPerS / figures.many.deliveredPerS) },
  }
}

async function publishBare(subscriber: Subscriber, messages: number) {
  const link = packed(await dialBareWebSocket(await subscriber.call('listenBare')))
  const startMs = performance.now()
  for (let i = 0; i < messages; i++) {
    link.send(Buffer.from(`${i} `.padEnd(messageBytes, '.')))
    if (i % 64 === 0) await new Promise((resolve) => setImmediate(resolve))
    while (link.buffered() > maxBareBytes) await new Promise((resolve) => setImmediate(resolve))
  }
  await subscriber.call('arrived', messages)
  const seconds = (performance.now() - startMs) / 1000
  link.close()
  return { messages, deliveredPerS: round(messages / seconds) }
}
