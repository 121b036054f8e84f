import {
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  seededRandom,
  toStreamId,
  toStreamPartId,
  type NodeId,
  type Random,
  type StreamPartId,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '@runnel/tracker'
import type { ChainEnd, NodeReport } from './node-child.ts'
import { NodeProcess } from './node-process.ts'
import type { Over } from './over.ts'

export interface ProcessesOptions {
  /** Decides which packets are lost and which nodes are killed, but not when things happen. */
  readonly seed: string
  readonly nodes: number
  readonly degree: number
  /** One node in so many listens for WebSockets; between two that do not the link is WebRTC. 0 for none. */
  readonly listenEvery: number
  readonly publishers: number
  /** Messages of each publisher, and from one to the next. */
  readonly messages: number
  readonly intervalMs: number
  /** The part of packets that vanish on every link between nodes, after its handshake. */
  readonly lossRate: number
  /** A process is killed and replaced each time that all publishers together have published so many; 0 for never. */
  readonly killEveryMessages: number
  /** How long, after the last message, the nodes may look for what they miss. */
  readonly settleLimitMs: number
}

export interface ProcessesReport {
  readonly seed: string
  readonly survivors: number
  readonly killed: number
  /** Messages that the survivors' applications should have been given, and were. */
  readonly expected: number
  readonly delivered: number
  readonly outOfOrder: number
  readonly duplicates: number
  readonly nodes: readonly (NodeReport & { readonly name: string })[]
}

/**
 * A real tracker, and real nodes in processes of their own on WebRTC and WebSockets. Some nodes are killed while publishers
 * publish and packets are lost. Rejects as `over` does, once the time is over.
 */
export async function runProcesses(
  options: ProcessesOptions,
  over: Pick<Over, 'promise'>,
): Promise<ProcessesReport> {
  const crypto = await loadCrypto()
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const tracker = createTracker(
    { listen: { host: '127.0.0.1', port: 0 }, degree: options.degree },
    { identity, crypto, clock: systemClock, random: systemRandom },
  )
  await tracker.start()
  const run = new ProcessesRun(options, tracker)
  try {
    return await Promise.race([run.run(), over.promise])
  } finally {
    await run.end()
    await tracker.stop()
  }
}

class ProcessesRun {
  readonly #options: ProcessesOptions
  readonly #tracker: Tracker
  readonly #streamPartId: StreamPartId
  readonly #random: Random
  readonly #running = new Set<NodeProcess>()
  #started = 0
  #published = 0
  #killed = 0

  constructor(options: ProcessesOptions, tracker: Tracker) {
    this.#options = options
    this.#tracker = tracker
    this.#streamPartId = toStreamPartId(toStreamId(`${tracker.nodeId}/sim`), 0)
    this.#random = seededRandom(options.seed)
  }

  async run(): Promise<ProcessesReport> {
    const { nodes, publishers, messages, intervalMs } = this.#options
    const starting = Array.from({ length: nodes }, () => this.#start())
    const founders = starting.map(({ process }) => process)
    const ids = await Promise.all(starting.map(({ ready }) => ready))
    const publishing = founders.slice(0, publishers)
    for (const process of publishing) process.onPublished = () => this.#onPublished(publishing)
    await Promise.all(publishing.map((process) => process.publish(messages, intervalMs)))
    const chains = ids.slice(0, publishers).map((publisherId) => ({ publisherId, count: messages }))
    const survivors = founders.filter((process) => this.#running.has(process))
    return this.#report(survivors, publishing, chains)
  }

  async end(): Promise<void> {
    await Promise.all([...this.#running].map((process) => process.kill()))
  }

  #start(): { readonly process: NodeProcess; readonly ready: Promise<NodeId> } {
    const { seed, lossRate, listenEvery } = this.#options
    const { nodeId, url } = this.#tracker
    const number = this.#started++
    const process = new NodeProcess(`node ${number}`)
    this.#running.add(process)
    const ready = process.start({
      tracker: { nodeId, url },
      streamPartId: this.#streamPartId,
      listens: listenEvery > 0 && number % listenEvery === 0,
      lossRate,
      lossSeed: `${seed} ${number}`,
    })
    return { process, ready }
  }

  #onPublished(publishing: readonly NodeProcess[]): void {
    const { killEveryMessages } = this.#options
    this.#published++
    if (killEveryMessages > 0 && this.#published % killEveryMessages === 0) this.#replaceOne(publishing)
  }

  #replaceOne(publishing: readonly NodeProcess[]): void {
    const candidates = [...this.#running].filter((process) => !publishing.includes(process))
    const victim = candidates[Math.floor(this.#random.next() * candidates.length)]
    if (victim === undefined) return
    this.#running.delete(victim)
    this.#killed++
    void victim.kill()
    // It may be killed in its turn before it is ready, or be ended with the run.
    this.#start().ready.catch(() => {})
  }

  async #report(
    survivors: readonly NodeProcess[],
    publishing: readonly NodeProcess[],
    chains: readonly ChainEnd[],
  ): Promise<ProcessesReport> {
    const { seed, messages, settleLimitMs } = this.#options
    const nodes = await Promise.all(
      survivors.map(async (process) => ({
        name: process.name,
        ...(await process.report(chains, settleLimitMs)),
      })),
    )
    const sum = (of: (report: NodeReport) => number): number =>
      nodes.reduce((total, report) => total + of(report), 0)
    // A publisher's own messages prove nothing.
    const read = survivors.length * chains.length - publishing.length
    return {
      seed,
      survivors: survivors.length,
      killed: this.#killed,
      expected: read * messages,
      delivered: sum(({ delivered }) => delivered),
      outOfOrder: sum(({ outOfOrder }) => outOfOrder),
      duplicates: sum(({ duplicates }) => duplicates),
      nodes,
    }
  }
}
