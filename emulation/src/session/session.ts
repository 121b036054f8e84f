import { setTimeout as delay } from 'node:timers/promises'
import type { NodeMeasurements } from '@runnel/node'
import type { NodeId, StreamPartId } from '@runnel/protocol'
import {
  ControlClient,
  type MeasuredOverlay,
  type ProcessInfo,
  type TrackerMeasurements,
} from '../control/control-client.ts'
import { emulationError } from '../errors.ts'
import type { Host, Hosts } from '../places/place.ts'
import { dilatedMs, type Dilation } from '../places/processes/dilation.ts'
import { experimentPart } from './experiment-stream.ts'
import { edgesOf, isInPlace, numberedOverlay, type FormedOverlay } from './formed-overlay.ts'
import { inParallel } from './in-parallel.ts'

/** Commands under way at a time. */
const atOnce = 32
/** Pause for each node between two looks whether something has come to pass: looking must not be what processes do. */
const lookEveryMsPerNode = 40
const minLookEveryMs = 250
/** How long an overlay may take until all its edges are open, in the time of its processes. */
export const formedWithinMs = 300_000
const realTime: Dilation = { factor: 1, sinceMs: 0 }
/** An address where nothing listens: the refusal comes as quickly as an answer. */
const unusedPort = 9
/** The most that wall clocks may be apart. */
const clockDifferenceMs = 1_000
/** How long `pauseForClocks` pauses: before and after the time that it gives. */
export const clocksMs = 2 * clockDifferenceMs
/** In so many looks one after the other the overlay has to be the same. */
const looksAlike = 4

export interface SessionNode {
  readonly host: Host
  readonly nodeId: NodeId
  readonly control: ControlClient
}

/** Round-trip times from one node to another, by number. */
export interface PairPings {
  readonly from: number
  readonly to: number
  readonly rttsMs: readonly number[]
  readonly failed: number
}

interface SessionOptions {
  readonly degree: number
  readonly dilation: Dilation
  readonly trackerId: NodeId
  /** Runs before this one. */
  readonly run: number
  readonly signal: AbortSignal
}

/** What was measured, by node. */
export interface SessionMeasurements {
  /** Of those that are still the nodes that they were: what others measured before they were restarted is lost. */
  readonly nodes: readonly NodeMeasurements[]
  /** How many have another id than they had. */
  readonly restarted: number
  readonly tracker: TrackerMeasurements
}

/**
 * Runs of an experiment on hosts that run, one after the other: join, wait, publish, wait, collect, reset. Times are those of the processes, which may
 * go slower.
 */
export class Session {
  readonly #trackerId: NodeId
  readonly #tracker: ControlClient
  readonly #nodes: SessionNode[]
  readonly #degree: number
  readonly #dilation: Dilation
  readonly #signal: AbortSignal
  #run: number

  private constructor(
    options: SessionOptions,
    modules: { readonly tracker: ControlClient; readonly nodes: readonly SessionNode[] },
  ) {
    this.#degree = options.degree
    this.#dilation = options.dilation
    this.#trackerId = options.trackerId
    this.#run = options.run
    this.#signal = options.signal
    this.#tracker = modules.tracker
    this.#nodes = [...modules.nodes]
  }

  get nodes(): readonly SessionNode[] {
    return this.#nodes
  }

  /** The number of every node. */
  get everybody(): readonly number[] {
    return [...this.#nodes.keys()]
  }

  /** Of this run. */
  get streamPartId(): StreamPartId {
    return experimentPart(this.#trackerId, this.#run)
  }

  /** Finds the node of each process, and discards earlier measurements. */
  static async open(hosts: Hosts, degree: number, signal: AbortSignal): Promise<Session> {
    const clientOf = ({ control }: Host): ControlClient => new ControlClient(control, hosts.token)
    const tracker = clientOf(hosts.tracker)
    const { nodeId: trackerId } = await tracker.info()
    const nodes = await inParallel(atOnce, hosts.nodes, async (host) => {
      const control = clientOf(host)
      await control.reset()
      return { host, nodeId: (await control.info()).nodeId, control }
    })
    const { dilation = realTime } = hosts
    return new Session({ degree, dilation, trackerId, run: 0, signal }, { tracker, nodes })
  }

  /** Every node joins; resolves when every edge is open and the clocks of all links are known. Rejects with NOT_FORMED. */
  async join(): Promise<FormedOverlay> {
    await inParallel(atOnce, this.nodes, ({ control }) => control.join(this.streamPartId))
    return this.formed()
  }

  /** Resolves when every node has the neighbours that the tracker wants, and that has not changed for a while. */
  async formed(): Promise<FormedOverlay> {
    const untilMs = performance.now() + this.#realMs(formedWithinMs)
    let [last, alike] = ['', 0]
    for (;;) {
      const [overlay, infos] = await Promise.all([this.#overlay(), this.#infos()])
      const text = JSON.stringify(overlay.edges.map(({ a, b }) => [a, b]))
      const late = this.nodes.filter((_, index) => !isInPlace(infos[index], overlay))
      const isWhole = late.length === 0 && overlay.edges.length === edgesOf(this.nodes.length, this.#degree)
      alike = isWhole && text === last ? alike + 1 : 0
      last = text
      if (alike >= looksAlike) return numberedOverlay(overlay, this.#ids)
      if (performance.now() > untilMs)
        throw emulationError('NOT_FORMED', late.map(({ host }) => host.name).join(', '))
      await this.pause()
    }
  }

  /** The overlay as the tracker has it now. */
  async overlay(): Promise<FormedOverlay> {
    return numberedOverlay(await this.#overlay(), this.#ids)
  }

  /** A node that has been started anew joins, and the overlay is whole again. */
  async rejoin(index: number): Promise<FormedOverlay> {
    const node = this.nodes[index]
    if (node === undefined) return this.formed()
    const { nodeId } = await node.control.info()
    this.#nodes[index] = { ...node, nodeId }
    await node.control.join(this.streamPartId)
    return this.formed()
  }

  /** The same session without some of its nodes: what is waited for and collected is of the others. */
  without(indexes: readonly number[]): Session {
    const nodes = this.nodes.filter((_, index) => !indexes.includes(index))
    const options = {
      ...{ degree: this.#degree, dilation: this.#dilation },
      ...{ trackerId: this.#trackerId, run: this.#run, signal: this.#signal },
    }
    return new Session(options, { tracker: this.#tracker, nodes })
  }

  /** Every node pings every other, so many times, all nodes at once. */
  pingAll(count: number): Promise<PairPings[]> {
    return this.#ping(count, (from) => this.everybody.filter((to) => to !== from))
  }

  /** One end of each edge pings the other, so many times. */
  pingEdges({ edges }: FormedOverlay, count: number): Promise<PairPings[]> {
    return this.#ping(count, (from) => edges.flatMap(({ a, b }) => (a === from ? [b] : [])))
  }

  async #ping(count: number, targetsOf: (from: number) => readonly number[]): Promise<PairPings[]> {
    const targets = await inParallel(atOnce, this.nodes, async ({ host, control }) => {
      const { websocketUrl } = await control.info()
      return `${host.address}:${websocketUrl === '' ? unusedPort : new URL(websocketUrl).port}`
    })
    const answers = await inParallel(atOnce, [...this.nodes.entries()], async ([from, { control }]) => {
      const others = targetsOf(from)
      if (others.length === 0) return []
      const { results } = await control.ping(
        others.map((to) => targets[to] ?? ''),
        count,
      )
      return results.map(({ rttsMs, failed }, at) => ({ from, to: others[at] ?? -1, rttsMs, failed }))
    })
    return answers.flat()
  }

  /** Some nodes publish a series each; resolves when all have begun. */
  async publish(
    publishers: readonly number[],
    series: { readonly messages: number; readonly intervalMs: number; readonly bytes: number },
  ): Promise<void> {
    const { streamPartId } = this
    await Promise.all(
      publishers.map(async (index) => this.nodes[index]?.control.publish({ streamPartId, ...series })),
    )
  }

  /** Whether one of these still publishes. */
  async isPublishing(publishers: readonly number[]): Promise<boolean> {
    const infos = await inParallel(atOnce, publishers, async (index) => this.nodes[index]?.control.info())
    return infos.some((info) => info?.isPublishing)
  }

  /** Resolves when no node publishes any more; does not check before that much time has passed. */
  async published(forMs: number): Promise<void> {
    await this.pass(forMs)
    while ((await this.#infos()).some(({ isPublishing }) => isPublishing)) await this.pause()
  }

  /**
   * Resolves when every node has so many messages, or none has had a new one for a while.
   * True when every node has them all.
   */
  async delivered(messages: number, quietMs: number): Promise<boolean> {
    let [last, sinceMs] = [-1, performance.now()]
    for (;;) {
      const counts = (await this.#infos()).map(({ streamParts }) => this.#part(streamParts)?.delivered ?? 0)
      if (counts.every((count) => count >= messages)) return true
      const sum = counts.reduce((total, count) => total + count, 0)
      if (sum !== last) [last, sinceMs] = [sum, performance.now()]
      else if (performance.now() - sinceMs > this.#realMs(quietMs)) return false
      await this.pause()
    }
  }

  async collect(): Promise<SessionMeasurements> {
    const answers = await inParallel(atOnce, this.nodes, ({ control }) => control.nodeMeasurements())
    const nodes = answers.filter(({ nodeId }, index) => nodeId === this.nodes[index]?.nodeId)
    const restarted = answers.length - nodes.length
    return { nodes, restarted, tracker: await this.#tracker.trackerMeasurements() }
  }

  /** Every node leaves and forgets what it measured. What is still under way is not of the next run, which has another stream part. */
  async reset(): Promise<void> {
    this.#run++
    await inParallel(atOnce, this.nodes, ({ control }) => control.reset())
  }

  get #ids(): NodeId[] {
    return this.#nodes.map(({ nodeId }) => nodeId)
  }

  /** What has a later timestamp than this gives was published later, on whatever machine: clocks are not that far apart. */
  async pauseForClocks(): Promise<number> {
    await this.pass(clockDifferenceMs)
    const nowMs = dilatedMs(Date.now(), this.#dilation)
    await this.pass(clockDifferenceMs)
    return nowMs
  }

  /** Lets time pass for the processes. */
  async pass(ms: number): Promise<void> {
    await delay(this.#realMs(ms), undefined, { signal: this.#signal })
  }

  /** Until it is worth looking again, in real time. */
  async pause(): Promise<void> {
    const ms = Math.max(minLookEveryMs, lookEveryMsPerNode * this.#nodes.length)
    await delay(ms, undefined, { signal: this.#signal })
  }

  #realMs(ms: number): number {
    return ms * this.#dilation.factor
  }

  #infos(): Promise<ProcessInfo[]> {
    return inParallel(atOnce, this.nodes, ({ control }) => control.info())
  }

  #part<Part extends { readonly streamPartId: StreamPartId }>(parts: readonly Part[]): Part | undefined {
    return parts.find(({ streamPartId }) => streamPartId === this.streamPartId)
  }

  async #overlay(): Promise<MeasuredOverlay> {
    const { overlays } = await this.#tracker.trackerMeasurements()
    return this.#part(overlays) ?? { streamPartId: this.streamPartId, nodes: [], edges: [] }
  }
}
