import { fork } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  responsibleTrackers,
  seededRandom,
  toStreamId,
  toStreamPartId,
  type NodeId,
} from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { freePort } from '@runnel/transport'
import { ChildCalls } from '../child-calls.ts'
import type { JoinTimes, MemberCalls, MemberOptions } from './member-child.ts'
import { TrackerProcess } from './tracker-process.ts'

export interface FailoverNetworkOptions {
  readonly trackers: number
  /** Processes with nodes, and nodes in each. */
  readonly processes: number
  readonly nodesPerProcess: number
  readonly streams: number
  readonly membersPerStream: number
}

const degree = 4
const pollMs = 200
const settleLimitMs = 90_000

interface Task {
  readonly process: number
  readonly member: number
  readonly stream: string
}

/** Real trackers and nodes in processes of their own, which find each other by a network file. */
export class FailoverNetwork {
  readonly trackers: readonly TrackerProcess[]
  readonly streams: readonly string[]
  readonly #options: FailoverNetworkOptions
  readonly #directory: string
  readonly #networkFile: string
  readonly #members: ChildCalls<MemberCalls>[] = []
  readonly #joiner = startMembers()
  readonly #publishers: Task[] = []
  #joins = 0

  private constructor(
    options: FailoverNetworkOptions,
    made: { directory: string; trackers: readonly TrackerProcess[]; streams: readonly string[] },
  ) {
    this.#options = options
    this.#directory = made.directory
    this.#networkFile = networkFileIn(made.directory)
    this.trackers = made.trackers
    this.streams = made.streams
  }

  /** Resolves when every overlay is complete. */
  static async start(options: FailoverNetworkOptions): Promise<FailoverNetwork> {
    const directory = mkdtempSync(join(tmpdir(), 'runnel-failover-'))
    const crypto = await loadCrypto()
    const trackers: TrackerProcess[] = []
    const addresses = []
    for (let i = 0; i < options.trackers; i++) {
      const key = generatePrivateKey(systemRandom)
      const { nodeId } = createIdentity(key, crypto)
      const keyFile = join(directory, `tracker-${i}.key`)
      writeFileSync(keyFile, Buffer.from(key).toString('hex'), { mode: 0o600 })
      const port = await freePort()
      addresses.push({ nodeId, url: `ws://127.0.0.1:${port}` })
      const logFile = join(directory, `tracker-${i}.log`)
      trackers.push(
        new TrackerProcess({ nodeId, keyFile, port, networkFile: networkFileIn(directory), logFile }),
      )
    }
    const owner = createIdentity(generatePrivateKey(systemRandom), crypto).nodeId
    const streams = Array.from({ length: options.streams }, (_, i) => `${owner}/failover/${i}`)
    const permissions = [{ user: 'public', publish: true, subscribe: true }]
    const document = {
      version: 1,
      trackers: addresses,
      streams: streams.map((id) => ({ id, permissions })),
    }
    writeFileSync(networkFileIn(directory), JSON.stringify(document))
    const network = new FailoverNetwork(options, { directory, trackers, streams })
    try {
      await Promise.all(trackers.map((tracker) => tracker.start()))
      await network.#startMembers()
      await network.settled()
      return network
    } catch (error) {
      await network.stop()
      throw error
    }
  }

  /** Trackers responsible for a stream, the one that should lead first. */
  orderOf(stream: string): TrackerProcess[] {
    const ids = this.trackers.map(({ nodeId }) => nodeId)
    const byId = new Map(this.trackers.map((tracker): [NodeId, TrackerProcess] => [tracker.nodeId, tracker]))
    return responsibleTrackers(toStreamPartId(toStreamId(stream), 0), ids, ids.length).flatMap(
      (id) => byId.get(id) ?? [],
    )
  }

  /**
   * Waits until of each of the streams the first tracker that is not in `away` has all members, and each of them all its
   * neighbours. Returns the time it took, null when it took too long.
   */
  async settled(
    away: readonly TrackerProcess[] = [],
    streams: readonly string[] = this.streams,
  ): Promise<number | null> {
    const startMs = performance.now()
    while (performance.now() - startMs < settleLimitMs) {
      if (await this.#isSettled(away, streams)) return Math.round(performance.now() - startMs)
      await delay(pollMs)
    }
    return null
  }

  /** Remembers the edges there are, for `edges` to tell which stayed. */
  async mark(): Promise<void> {
    await Promise.all(this.#members.map((process) => process.call('mark')))
  }

  async edges(streams: readonly string[]) {
    const all = await Promise.all(this.#members.map((process) => process.call('edges', streams)))
    return {
      marked: all.reduce((sum, { marked }) => sum + marked, 0),
      there: all.reduce((sum, { there }) => sum + there, 0),
    }
  }

  /** Somebody new joins a stream, and leaves it when it has had a message. */
  join(stream: string, limitMs: number): Promise<JoinTimes> {
    const listens = this.#joins++ % 2 === 0
    return this.#joiner.call('join', { networkFile: this.#networkFile, listens, streams: [stream] }, limitMs)
  }

  /** One member of each stream publishes, all together so many messages a second. */
  async publish(ratePerS: number): Promise<void> {
    const intervalMs = (1000 * this.streams.length) / ratePerS
    await Promise.all(
      this.#members.map((process, index) =>
        process.call(
          'publish',
          this.#publishers.filter((task) => task.process === index),
          intervalMs,
        ),
      ),
    )
  }

  async pause() {
    const all = await Promise.all(this.#members.map((process) => process.call('pause')))
    return {
      published: new Map(all.flatMap(({ published }) => published)),
      refused: all.reduce((sum, { refused }) => sum + refused, 0),
    }
  }

  /** What the members were given of others, each of each stream. */
  async ledger() {
    return (await Promise.all(this.#members.map((process) => process.call('ledger')))).flat()
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#members, this.#joiner].map((process) => process.stop()))
    await Promise.all(this.trackers.map((tracker) => tracker.kill()))
    rmSync(this.#directory, { recursive: true })
  }

  async #startMembers(): Promise<void> {
    const { processes, nodesPerProcess, membersPerStream } = this.#options
    const nodes = processes * nodesPerProcess
    const streamsOf: string[][] = Array.from({ length: nodes }, () => [])
    const random = seededRandom('members of streams')
    for (const stream of this.streams) {
      const order = Array.from({ length: nodes }, (_, node) => ({ node, at: random.next() }))
      const chosen = order.sort((a, b) => a.at - b.at).slice(0, membersPerStream)
      for (const { node } of chosen) streamsOf[node]?.push(stream)
      const publisher = chosen[0]?.node ?? 0
      this.#publishers.push({
        process: Math.floor(publisher / nodesPerProcess),
        member: publisher % nodesPerProcess,
        stream,
      })
    }
    for (let index = 0; index < processes; index++) {
      const process = startMembers()
      this.#members.push(process)
      const all = Array.from({ length: nodesPerProcess }, (_, i): MemberOptions => {
        const node = index * nodesPerProcess + i
        return { networkFile: this.#networkFile, listens: node % 2 === 0, streams: streamsOf[node] ?? [] }
      })
      await process.call('start', all)
    }
  }

  async #isSettled(away: readonly TrackerProcess[], streams: readonly string[]): Promise<boolean> {
    const there = this.trackers.filter((tracker) => !away.includes(tracker))
    const sizes = new Map(await Promise.all(there.map(async (it) => [it, await it.sizes()] as const)))
    const { membersPerStream } = this.#options
    for (const stream of streams) {
      const leader = this.orderOf(stream).find((tracker) => there.includes(tracker))
      const size = leader && sizes.get(leader)?.get(toStreamPartId(toStreamId(stream), 0))
      if (size !== membersPerStream) return false
    }
    const degrees = (await Promise.all(this.#members.map((process) => process.call('degrees')))).flat()
    const wanted = Math.min(degree, membersPerStream - 1)
    return degrees.every((it) => !streams.includes(it.stream) || it.degree === wanted)
  }
}

function startMembers(): ChildCalls<MemberCalls> {
  return new ChildCalls(
    fork(fileURLToPath(new URL('member-child.ts', import.meta.url)), {
      execArgv: ['--conditions=runnel-src'],
    }),
  )
}

function networkFileIn(directory: string): string {
  return join(directory, 'network.json')
}
