import type { NodeId } from '@runnel/protocol'
import { messageNumber, ChainPublisher } from '../../world/chain-publisher.ts'
import type { SimNode } from '../../world/world.ts'
import { Formation, type FormationOptions } from '../formation.ts'
import { mean, percentile } from '../../measures/statistics.ts'

export interface CopiesOptions extends Omit<FormationOptions, 'jitterMs'> {
  /** Messages that each node publishes in a second. */
  readonly rate: number
  /** Virtual seconds of publishing that are measured. */
  readonly seconds: number
  readonly thinFloods: boolean
  /** Half-way one node is lost without a word. */
  readonly kills: boolean
}

export interface CopiesReport {
  readonly expected: number
  readonly delivered: number
  /** Copies of a message received by a node that received it. */
  readonly copies: number
  readonly meanMs: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Messages that were on their way or published from the loss of the node on, at nodes that got them later than before … */
  readonly late: number
  /** … and how much later than what was usual for that publisher there. */
  readonly lateP50Ms: number
  readonly lateP99Ms: number
  readonly lateMaxMs: number
  /** Since the loss until the last of them was published. */
  readonly lateForMs: number
}

/** Published before it is measured: floods become thin. */
const warmUpMs = 3_000
/** Longest time that anything is under way. */
const settlingMs = 30_000
/** Of the network's frames, so that no path is always first by a hair. */
const jitterMs = 3
/** A message that comes so much later than usual is late. */
const lateMs = 10

/** All nodes publish at a steady rate: how many copies does each message cost, how long does it take, and what if a node is lost? */
export async function runCopies(
  options: CopiesOptions,
  onProgress: (text: string) => void,
): Promise<CopiesReport> {
  const run = new CopiesRun(options, await Formation.run({ ...options, jitterMs }, onProgress))
  await run.publish()
  return run.measure()
}

interface Arrival {
  readonly publishedMs: number
  readonly delayMs: number
}

class CopiesRun {
  readonly #options: CopiesOptions
  readonly #formation: Formation
  /** When the messages of each publisher were published, in order. */
  readonly #published = new Map<NodeId, number[]>()
  /** By reader, and then by publisher. */
  readonly #arrivals = new Map<SimNode, Map<NodeId, Arrival[]>>()
  readonly #startMs: number
  #killed: SimNode | undefined
  #received = 0
  #duplicates = 0

  constructor(options: CopiesOptions, formation: Formation) {
    this.#options = options
    this.#formation = formation
    this.#startMs = formation.world.clock.monotonicMs() + warmUpMs
    for (const reader of formation.nodes) this.#listen(reader)
  }

  async publish(): Promise<void> {
    const { world, nodes } = this.#formation
    const { rate, seconds, kills } = this.#options
    const { clock, crypto, streamPartId } = world
    const endMs = this.#startMs + seconds * 1000
    nodes.forEach((source, index) => {
      const identity = world.identity(`publisher ${index}`)
      const publisher = new ChainPublisher({ streamPartId }, { clock, crypto, identity })
      const times: number[] = []
      this.#published.set(identity.nodeId, times)
      const publish = (): void => {
        if (clock.monotonicMs() >= endMs || this.#killed === source) return
        times.push(clock.monotonicMs())
        source.node.publish(publisher.next())
        clock.schedule(1000 / rate, publish)
      }
      clock.schedule((1000 / rate) * (index / nodes.length), publish)
    })
    await world.advanceTo(this.#startMs)
    const before = this.#counts()
    if (kills) await this.#kill(this.#startMs + seconds * 500)
    await world.advanceTo(endMs)
    const after = this.#counts()
    this.#received = after.received - before.received
    this.#duplicates = after.duplicates - before.duplicates
    await world.advanceTo(endMs + settlingMs)
  }

  measure(): CopiesReport {
    const readers = this.#formation.nodes.filter((reader) => reader !== this.#killed)
    const killed = this.#killed && this.#publisherOf(this.#killed)
    const all: Arrival[] = []
    const late: { readonly byMs: number; readonly atMs: number }[] = []
    let expected = 0
    for (const reader of readers) {
      for (const [publisherId, times] of this.#published) {
        // Of what the lost node published last, nobody may have got anything.
        if (publisherId === this.#publisherOf(reader) || publisherId === killed) continue
        const arrivals = this.#arrivals.get(reader)?.get(publisherId) ?? []
        expected += times.filter((atMs) => atMs >= this.#startMs).length
        all.push(...arrivals)
        late.push(...this.#late(arrivals))
      }
    }
    const delays = all.map(({ delayMs }) => delayMs)
    const by = late.map(({ byMs }) => byMs)
    return {
      expected,
      delivered: all.length,
      copies: 1 + this.#duplicates / this.#received,
      meanMs: mean(delays) ?? 0,
      p50Ms: percentile(delays, 0.5) ?? 0,
      p99Ms: percentile(delays, 0.99) ?? 0,
      late: late.length,
      lateP50Ms: percentile(by, 0.5) ?? 0,
      lateP99Ms: percentile(by, 0.99) ?? 0,
      lateMaxMs: Math.max(0, ...by),
      lateForMs: Math.max(0, ...late.map(({ atMs }) => atMs - this.#killMs)),
    }
  }

  get #killMs(): number {
    return this.#startMs + this.#options.seconds * 500
  }

  async #kill(atMs: number): Promise<void> {
    const { world, nodes } = this.#formation
    await world.advanceTo(atMs)
    const [victim] = nodes
    if (victim === undefined) return
    this.#killed = victim
    world.kill(victim, 'silent')
  }

  #publisherOf(source: SimNode): NodeId {
    return this.#formation.world.identity(`publisher ${this.#formation.nodes.indexOf(source)}`).nodeId
  }

  #listen(reader: SimNode): void {
    const byPublisher = new Map<NodeId, Arrival[]>()
    this.#arrivals.set(reader, byPublisher)
    reader.node.on('message', ({ message, from }) => {
      const { publisherId, content } = message
      const publishedMs = this.#published.get(publisherId)?.[messageNumber(content)]
      if (from === undefined || publishedMs === undefined || publishedMs < this.#startMs) return
      const delayMs = this.#formation.world.clock.monotonicMs() - publishedMs
      const arrivals = byPublisher.get(publisherId)
      if (arrivals === undefined) byPublisher.set(publisherId, [{ publishedMs, delayMs }])
      else arrivals.push({ publishedMs, delayMs })
    })
  }

  /** What came later than usual from the loss on; afterwards the usual way may be a longer one. */
  #late(arrivals: readonly Arrival[]): readonly { readonly byMs: number; readonly atMs: number }[] {
    if (this.#killed === undefined) return []
    const usualMs = (of: readonly Arrival[]): number =>
      percentile(
        of.map(({ delayMs }) => delayMs),
        0.5,
      ) ?? 0
    const before = usualMs(arrivals.filter(({ publishedMs }) => publishedMs < this.#killMs - 1_000))
    const after = usualMs(arrivals.filter(({ publishedMs }) => publishedMs > this.#killMs + 2_000))
    return arrivals.flatMap(({ publishedMs, delayMs }) => {
      const byMs = delayMs - Math.max(before, after)
      const isMeant = publishedMs >= this.#killMs - 1_000 && publishedMs <= this.#killMs + 2_000
      return isMeant && byMs > lateMs ? [{ byMs, atMs: publishedMs }] : []
    })
  }

  #counts(): { readonly received: number; readonly duplicates: number } {
    let [received, duplicates] = [0, 0]
    for (const reader of this.#formation.nodes) {
      if (reader === this.#killed) continue
      for (const part of reader.node.metrics().streamParts) {
        received += part.delivered - part.published
        duplicates += part.duplicates
      }
    }
    return { received, duplicates }
  }
}
