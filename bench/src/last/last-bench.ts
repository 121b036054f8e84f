import { createClient, type RunnelClient, type StaticNetwork } from '@runnel/client'
import { createIdentity, generatePrivateKey, loadCrypto, toStreamId, toStreamPartId } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker } from '@runnel/tracker'
import { beginPhase, showProgress } from '../phase.ts'
import { within } from '../settling.ts'
import { percentile, round } from '../statistics.ts'

export interface LastBenchOptions {
  /** Nodes that keep the values. */
  readonly members: number
  readonly keys: number
  /** Nodes that come later and ask, one after the other. */
  readonly joins: number
  readonly limitS: number
}

/** A newcomer is sent what came in the second before it joined: then it would know by itself. */
const settleMs = 3_000

/**
 * How long `last` takes that a neighbour answers: for a node that has joined, and for one that has not; beside the round-trip time of the
 * same links, as their pings measure it. All nodes are in this process, linked by WebSockets.
 */
export async function lastBench({ members, keys, joins, limitS }: LastBenchOptions) {
  const crypto = await loadCrypto()
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const tracker = createTracker(
    { listen: { port: 0 } },
    { identity, crypto, clock: systemClock, random: systemRandom },
  )
  await tracker.start()
  const streamId = toStreamId(`${tracker.nodeId}/values`)
  const document: StaticNetwork = {
    version: 1,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [
      {
        id: streamId,
        metadata: JSON.stringify({ lastValues: true }),
        permissions: [{ user: 'public', publish: true, subscribe: true }],
      },
    ],
  }
  const clients: RunnelClient[] = []
  const newClient = async () => {
    const client = await createClient({
      network: { kind: 'static', document },
      transports: { websocket: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false },
    })
    clients.push(client)
    return client
  }
  const run = async () => {
    beginPhase('members')
    const [first, ...others] = await Promise.all(Array.from({ length: members }, newClient))
    if (first === undefined) throw new Error('there are no members')
    const taken = await Promise.all(others.map((member) => takesAll(member, streamId, keys)))
    await first.publishMany(
      streamId,
      Array.from({ length: keys }, (_, n) => n),
      { key: String },
    )
    await Promise.all(taken.map(({ all }) => all))
    await new Promise((resolve) => setTimeout(resolve, settleMs))
    const [joinedMs, coldMs, pingMs]: number[][] = [[], [], []]
    beginPhase('asking')
    showProgress(() => `${coldMs?.length} of ${joins} newcomers`)
    for (let join = 0; join < joins; join++) {
      const newcomer = await newClient()
      coldMs?.push(await timed(newcomer, streamId, `${join % keys}`))
      for (let n = 1; n <= 10; n++) joinedMs?.push(await timed(newcomer, streamId, `${(join + n) % keys}`))
      pingMs?.push(...pingsOf(newcomer, streamId))
      await newcomer.close()
    }
    return report(joinedMs ?? [], coldMs ?? [], pingMs ?? [])
  }
  try {
    return { bench: 'last', members, keys, joins, ...(await within(limitS * 1000, 'asking', run())) }
  } finally {
    await Promise.all(clients.map((client) => client.close()))
    await tracker.stop()
  }
}

/** Throws where the node itself knew: then no neighbour was asked. */
async function timed(client: RunnelClient, streamId: string, key: string): Promise<number> {
  const answeredBefore = client.network.latest(toStreamPartId(toStreamId(streamId), 0), undefined)
  if (answeredBefore !== undefined) throw new Error('the node knows by itself')
  const startMs = performance.now()
  const found = await client.last<number>(streamId, { key, from: 'neighbours' })
  if (found?.key !== key) throw new Error(`no value of ${key}`)
  return performance.now() - startMs
}

function pingsOf(client: RunnelClient, streamId: string): number[] {
  const part = client.network.metrics().streamParts.find((one) => one.streamPartId.startsWith(streamId))
  return (part?.neighbours ?? []).flatMap(({ rttMs }) => rttMs ?? [])
}

/** Subscribes and stays; `all` resolves when so many have come. */
async function takesAll(
  client: RunnelClient,
  streamId: string,
  count: number,
): Promise<{ all: Promise<void> }> {
  const { promise: all, resolve } = Promise.withResolvers<void>()
  let taken = 0
  await client.subscribe(streamId, {}, () => {
    if (++taken === count) resolve()
  })
  return { all }
}

function report(joinedMs: readonly number[], coldMs: readonly number[], pingMs: readonly number[]) {
  const of = (samples: readonly number[]) => ({
    samples: samples.length,
    p50Ms: round(percentile(samples, 0.5)),
    p95Ms: round(percentile(samples, 0.95)),
  })
  return { joined: of(joinedMs), notJoined: of(coldMs), ping: of(pingMs) }
}
