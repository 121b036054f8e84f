import { fork } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createNetworkNode, type NetworkNode, type TrackerAddress } from '@runnel/network'
import { loadCrypto, toStreamId, toStreamPartId, type Crypto, type Identity } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import type { TrackerLimits } from '@runnel/tracker'
import { ChildCalls } from '../child-calls.ts'
import { percentile, round } from '../statistics.ts'
import { messageNumber, newIdentity, Source } from '../swarm.ts'
import type { Siege, SiegeCalls } from './siege-child.ts'
import { startServer } from './tracker-bench.ts'

export interface SiegeBenchOptions extends Omit<Siege, 'tracker'> {
  /** Of honest nodes, one after the other, before the siege and during it. */
  readonly joins: number
  /** It ends by then, whatever happens, in milliseconds. */
  readonly maxMs: number
  /** Of the tracker, in place of the defaults. */
  readonly limits: Partial<TrackerLimits>
}

/** Honest nodes that are there from the beginning. */
const residents = 5
/** A join that takes longer has failed. */
const maxJoinMs = 15_000
/** A message is published so often. */
const publishEveryMs = 20
/** Until the siege has taken what there is, after every one of its ids has tried, in milliseconds. */
const settleMs = 5_000

/**
 * A tracker in a process of its own; one /24 that holds all the connections, half-open handshakes and stream parts it can
 * there, in another; and honest nodes, each of a network of its own, that join a live stream part: the time from a node's start
 * to its first message, tracker connection and links included.
 */
export async function siegeBench(options: SiegeBenchOptions, say: (text: string) => void = () => {}) {
  const { joins, maxMs, limits, ...siege } = options
  const crypto = await loadCrypto()
  const tracker = startServer()
  const besieger = startBesieger()
  const honest = new HonestNodes(crypto)
  const timeout = AbortSignal.timeout(maxMs)
  try {
    const address = await tracker.call('startTracker', limits)
    await honest.settle(address)
    say('joins without a siege')
    const before = await honest.join(joins, timeout)
    say('the siege begins')
    const begun = besieger.call('besiege', { ...siege, tracker: address }).then(() => true)
    const isComplete = (await Promise.race([begun, delay(maxMs / 2)])) === true
    if (!isComplete) say('it has not taken all it can yet: this machine is slow or busy')
    await delay(Math.min(settleMs, maxMs / 10))
    say('joins during the siege')
    const during = await honest.join(joins, timeout)
    const [held, counts] = [await besieger.call('held'), await tracker.call('counts')]
    const evicted = await honest.residentsMissingAt(address.httpUrl)
    return {
      bench: 'siege',
      ...{ ...siege, joins, maxSeconds: maxMs / 1000 },
      firstMessageMs: figures(during),
      failed: during.filter((ms) => ms === undefined).length,
      siege: { ...held, isComplete },
      tracker: pick(counts, [
        ...['nodes', 'stream_parts', 'nodes_refused', 'nodes_evicted', 'stream_parts_refused'],
        ...['stream_parts_evicted', 'sockets_cut', 'connections_refused', 'floods_refused', 'stalls'],
      ]),
      residentsEvicted: evicted,
      baseline: {
        what: 'the same joins of the same run before the siege',
        firstMessageMs: figures(before),
        failed: before.filter((ms) => ms === undefined).length,
      },
      ratio: {
        p50: round(figures(during).p50 / figures(before).p50),
        p95: round(figures(during).p95 / figures(before).p95),
      },
    }
  } finally {
    await honest.stop()
    await besieger.stop()
    await tracker.stop()
  }
}

type Times = readonly (number | undefined)[]

/** A failed join counts as one that took as long as is waited for. */
function figures(times: Times) {
  const all = times.map((ms) => ms ?? maxJoinMs)
  return { p50: round(percentile(all, 0.5)), p95: round(percentile(all, 0.95)) }
}

function pick(counts: Readonly<Record<string, number>>, names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, counts[name] ?? 0]))
}

function startBesieger(): ChildCalls<SiegeCalls> {
  const file = fileURLToPath(new URL('siege-child.ts', import.meta.url))
  return new ChildCalls(fork(file, { execArgv: ['--conditions=runnel-src'] }))
}

/** Nodes of one stream part, each of a network of its own, and what they publish. */
class HonestNodes {
  readonly crypto: Crypto
  readonly publisher: Identity
  readonly signer: Identity
  readonly streamPartId
  readonly #source: Source
  readonly #residents: { readonly node: NetworkNode; readonly identity: Identity }[] = []
  #tracker: TrackerAddress | undefined
  #feed: NodeJS.Timeout | undefined
  #made = 0

  constructor(crypto: Crypto) {
    this.crypto = crypto
    this.publisher = newIdentity(crypto)
    this.signer = this.publisher
    this.streamPartId = toStreamPartId(toStreamId(`${this.publisher.nodeId}/siege`), 0)
    this.#source = new Source(this)
  }

  /** Starts the nodes that stay, and publishing. */
  async settle({ nodeId, url }: TrackerAddress): Promise<void> {
    this.#tracker = { nodeId, url }
    for (let n = 0; n < residents; n++) {
      const made = this.#create()
      this.#residents.push(made)
      await made.node.start()
      made.node.join(this.streamPartId)
    }
    const count = Math.min(4, residents - 1)
    await Promise.all(this.#residents.map(({ node }) => node.waitForNeighbours(this.streamPartId, { count })))
    const publish = () => this.#residents[0]?.node.publish(this.#source.next(1))
    this.#feed = setInterval(publish, publishEveryMs)
  }

  /** How long each took, in milliseconds; undefined for one that got no message in time. */
  async join(count: number, timeout: AbortSignal): Promise<Times> {
    const times: (number | undefined)[] = []
    for (let i = 0; i < count; i++) times.push(timeout.aborted ? undefined : await this.#joinOnce())
    return times
  }

  /** How many of the nodes that stay the tracker has lost. */
  async residentsMissingAt(httpUrl: string): Promise<number> {
    let missing = 0
    for (const { identity } of this.#residents) {
      const response = await fetch(`${httpUrl}/v1/nodes?prefix=${identity.nodeId}`)
      const { nodes } = (await response.json()) as { nodes: readonly { readonly connected: boolean }[] }
      if (nodes[0]?.connected !== true) missing++
    }
    return missing
  }

  async stop(): Promise<void> {
    clearInterval(this.#feed)
    await Promise.all(this.#residents.map(({ node }) => node.stop()))
  }

  async #joinOnce(): Promise<number | undefined> {
    const { node } = this.#create()
    const startMs = performance.now()
    const firstNumber = this.#source.count
    const first = new Promise<number>((resolve) =>
      node.on('message', ({ message }) => {
        if (messageNumber(message.content) >= firstNumber) resolve(performance.now() - startMs)
      }),
    )
    await node.start()
    node.join(this.streamPartId)
    const late = new AbortController()
    const given = delay(maxJoinMs, undefined, { signal: late.signal }).catch(() => undefined)
    const elapsedMs = await Promise.race([first, given])
    late.abort()
    await node.stop()
    return elapsedMs
  }

  #create() {
    const localAddress = `127.1.${this.#made++ % 250}.1`
    const tracker = this.#tracker
    const identity = newIdentity(this.crypto)
    const node = createNetworkNode(
      { transports: { websocket: { listen: { host: localAddress, port: 0 }, localAddress }, webrtc: false } },
      {
        ...{ identity, crypto: this.crypto, clock: systemClock, random: systemRandom },
        publisherPolicy: { check: () => 'allowed', resolve: async () => {} },
        trackers: { trackersFor: () => (tracker === undefined ? [] : [tracker]), onChange: () => () => {} },
      },
    )
    return { node, identity }
  }
}
