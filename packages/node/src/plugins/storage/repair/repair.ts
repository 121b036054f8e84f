import type { RunnelClient } from '@runnel/client'
import type { Gap } from '@runnel/network'
import type { Cancel, NodeId, StreamPartId } from '@runnel/protocol'
import { ownerOf, streamOf } from '../share-out.ts'
import type { StorageLimits } from '../storage-limits.ts'
import { oneAtATime } from '../waiting.ts'
import { copyBatches, type CopyModules, type CopyRequest, type CopyResult } from './copy-batches.ts'
import { GapList, type ChainGap } from './gap-list.ts'
import type { RepairMarks } from './repair-marks.ts'

export interface RepairOptions {
  readonly intervalMs: number
  readonly limits: StorageLimits
}

export interface RepairModules extends Omit<CopyModules, 'events' | 'limits'> {
  readonly client: Pick<RunnelClient, 'nodeId' | 'getStorageNodes'>
  readonly marks: RepairMarks
  /** The oldest time of which messages are kept. */
  readonly oldestMs: (streamPartId: StreamPartId) => Promise<number>
  readonly events: {
    repaired(streamPartId: StreamPartId, from: NodeId, batches: number): void
    failed(streamPartId: StreamPartId, from: NodeId | undefined, error: unknown): void
  }
}

export interface RepairStatus {
  /** Stream parts that may miss something. */
  readonly incompleteParts: number
  /** Message chains that may miss something. */
  readonly gaps: number
  /** Gaps not asked for: too long ago, asked for before, or their publisher has its share. */
  readonly refusedGaps: number
  readonly copiedBatches: number
  readonly refusedBatches: number
  readonly failures: number
}

/**
 * Fetches from the other storage nodes what this one may have missed. One stream part at a time, a part of it in turn with
 * those of other owners: it is not urgent. What a publisher claims to be missing (a gap) is asked for of its chain alone,
 * and no further back than the node has been there, so that messages make storage nodes read no others.
 */
export class Repair {
  readonly #options: RepairOptions
  readonly #modules: RepairModules
  /** From when on something may be missing. */
  readonly #missing = new Map<StreamPartId, number>()
  readonly #controller = new AbortController()
  readonly #counters = { copiedBatches: 0, refusedBatches: 0, failures: 0, refusedGaps: 0 }
  readonly #gaps: GapList
  /** When the parts were joined, in this run. */
  readonly #joinedMs = new Map<StreamPartId, number>()
  /** Storage nodes that could not be asked, by stream part. */
  readonly #unasked = new Set<StreamPartId>()
  readonly #lonelySinceMs = new Map<StreamPartId, number>()
  #cancel: Cancel = () => {}

  constructor(options: RepairOptions, modules: RepairModules) {
    this.#options = options
    this.#modules = modules
    const { maxRepairGaps, maxGapTries } = options.limits
    this.#gaps = new GapList({ max: maxRepairGaps, maxTries: maxGapTries })
  }

  /** A stream part is kept from now on. */
  async joined(streamPartId: StreamPartId): Promise<void> {
    const { marks, clock } = this.#modules
    this.#lonelySinceMs.set(streamPartId, clock.now())
    this.#joinedMs.set(streamPartId, clock.now())
    const sinceMs = await marks.missingSince(streamPartId)
    await this.missed(streamPartId, sinceMs - this.#options.limits.repairMarginMs)
    this.#schedule(this.#options.limits.settleMs)
  }

  async left(streamPartId: StreamPartId): Promise<void> {
    const { marks, clock } = this.#modules
    const sinceMs = this.#missing.get(streamPartId) ?? clock.now()
    this.#missing.delete(streamPartId)
    this.#unasked.delete(streamPartId)
    this.#lonelySinceMs.delete(streamPartId)
    this.#joinedMs.delete(streamPartId)
    this.#gaps.forget(streamPartId)
    await marks.setPart(streamPartId, sinceMs)
  }

  /** To be told of the neighbours of a stream part: without any, nothing arrives. */
  async neighboursChanged(streamPartId: StreamPartId, count: number): Promise<void> {
    const lonelySinceMs = this.#lonelySinceMs.get(streamPartId)
    if (count === 0) {
      this.#lonelySinceMs.set(streamPartId, lonelySinceMs ?? this.#modules.clock.now())
      return
    }
    this.#lonelySinceMs.delete(streamPartId)
    if (lonelySinceMs === undefined) return
    await this.missed(streamPartId, lonelySinceMs - this.#options.limits.repairMarginMs)
    this.#schedule(0)
  }

  /** Something of this time and after may be missing. It is fetched with the next round. */
  async missed(streamPartId: StreamPartId, sinceMs: number): Promise<void> {
    const from = Math.max(0, sinceMs)
    if ((this.#missing.get(streamPartId) ?? Infinity) <= from) return
    this.#missing.set(streamPartId, from)
    await this.#modules.marks.setPart(streamPartId, from)
  }

  /** A batch that has just come found no room. How old it says to be is its publisher's affair. */
  dropped(streamPartId: StreamPartId, firstMs: number): Promise<void> {
    const { repairMarginMs } = this.#options.limits
    return this.missed(streamPartId, Math.max(firstMs, this.#modules.clock.now() - repairMarginMs))
  }

  /** The network gave up messages that a publisher says there are. */
  gap({ streamPartId, chain, after, upTo }: Gap): void {
    const { repairMarginMs, maxGapReachMs } = this.#options.limits
    const nowMs = this.#modules.clock.now()
    const joinedMs = this.#joinedMs.get(streamPartId) ?? nowMs
    const fromMs = Math.max(after.timestamp, joinedMs - repairMarginMs, nowMs - maxGapReachMs)
    const toMs = upTo.timestamp
    const isTaken = toMs >= fromMs && this.#gaps.add({ streamPartId, chain, fromMs, toMs })
    if (!isTaken) this.#counters.refusedGaps++
  }

  status(): RepairStatus {
    const incompleteParts = new Set([...this.#missing.keys(), ...this.#unasked]).size
    return { incompleteParts, gaps: this.#gaps.size, ...this.#counters }
  }

  /** Begins the rounds. */
  start(): void {
    this.#schedule(this.#options.intervalMs)
  }

  /** A round now, or after the one that is under way. Never rejects. */
  readonly run = oneAtATime(() => this.#round())

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#controller.abort()
    this.#cancel()
    await this.run()
  }

  #schedule(delayMs: number): void {
    this.#cancel()
    if (this.#controller.signal.aborted) return
    this.#cancel = this.#modules.clock.schedule(delayMs, () => {
      void this.run().then(() => this.#schedule(this.#options.intervalMs))
    })
  }

  /** The owners take turns; so does a part of which there is more with the others of its owner. */
  async #round(): Promise<void> {
    await this.#repairGaps()
    const parts = new Set([...this.#missing.keys(), ...this.#unasked])
    const owners = [...Map.groupBy(parts, ownerOf).values()]
    while (owners.length > 0) {
      for (const waiting of [...owners]) {
        if (this.#controller.signal.aborted) return
        const streamPartId = waiting.shift()
        if (streamPartId !== undefined && (await this.#hasMore(streamPartId))) waiting.push(streamPartId)
        if (waiting.length === 0) owners.splice(owners.indexOf(waiting), 1)
      }
    }
  }

  async #hasMore(streamPartId: StreamPartId): Promise<boolean> {
    try {
      return await this.#repairPart(streamPartId)
    } catch (error) {
      this.#fail(streamPartId, undefined, error)
      return false
    }
  }

  /** True when there is more to be copied at once. */
  async #repairPart(streamPartId: StreamPartId): Promise<boolean> {
    const { client, marks, clock, oldestMs } = this.#modules
    const { repairMarginMs, maxTurnBytes } = this.#options.limits
    const missingSinceMs = this.#missing.get(streamPartId)
    const nowMs = clock.now()
    const oldest = await oldestMs(streamPartId)
    const others = (await client.getStorageNodes(streamOf(streamPartId))).filter(
      ({ nodeId }) => nodeId !== client.nodeId,
    )
    const nodes: { node: (typeof others)[number]; sinceMs: number }[] = []
    for (const node of others) {
      const unaskedMs = await marks.unasked(streamPartId, node.nodeId)
      const sinceMs = Math.min(missingSinceMs ?? Infinity, unaskedMs ?? Infinity)
      if (sinceMs !== Infinity) nodes.push({ node, sinceMs: Math.max(sinceMs, oldest) })
    }
    // Publishers' clocks may be ahead.
    const request = { streamPartId, nodes, toMs: nowMs + repairMarginMs, maxBytes: maxTurnBytes }
    const { failed, restFromMs } = await this.#copy(request, others.length)
    for (const { node, sinceMs } of nodes) {
      const untilMs = failed.has(node.nodeId) ? sinceMs : restFromMs
      await marks.setUnasked(streamPartId, node.nodeId, untilMs)
    }
    if (failed.size > 0 || restFromMs !== undefined) this.#unasked.add(streamPartId)
    else this.#unasked.delete(streamPartId)
    const hasMore = restFromMs !== undefined && failed.size < nodes.length
    // What was found missing meanwhile is for the next round.
    if (this.#missing.get(streamPartId) !== missingSinceMs || missingSinceMs === undefined) return hasMore
    this.#missing.delete(streamPartId)
    await marks.setPart(streamPartId, undefined)
    return hasMore
  }

  /** One of each publisher a round. */
  async #repairGaps(): Promise<void> {
    const { client } = this.#modules
    for (const gap of this.#gaps.nextOnes()) {
      if (this.#controller.signal.aborted) return
      try {
        const nodes = await client.getStorageNodes(streamOf(gap.streamPartId))
        const others = nodes.filter(({ nodeId }) => nodeId !== client.nodeId)
        const { failed } = await this.#copy(this.#gapRequest(gap, others), others.length)
        this.#gaps.tried(gap, failed.size === 0)
      } catch (error) {
        this.#gaps.tried(gap, false)
        this.#fail(gap.streamPartId, undefined, error)
      }
    }
  }

  #gapRequest(
    { streamPartId, chain, fromMs, toMs }: ChainGap,
    others: readonly CopyRequest['nodes'][number]['node'][],
  ): Omit<CopyRequest, 'witnesses'> {
    const nodes = others.map((node) => ({ node, sinceMs: fromMs }))
    return { streamPartId, nodes, toMs, chain, maxBytes: this.#options.limits.maxGapBytes }
  }

  /** Of a publisher whose permission has ended more than half of the other storage nodes must have a batch. */
  #copy(request: Omit<CopyRequest, 'witnesses'>, others: number): Promise<CopyResult> {
    const { streamPartId } = request
    const events: CopyModules['events'] = {
      copied: (from, batches) => {
        this.#counters.copiedBatches += batches
        this.#modules.events.repaired(streamPartId, from, batches)
      },
      refused: (batches) => void (this.#counters.refusedBatches += batches),
      failed: (from, error) => this.#fail(streamPartId, from, error),
    }
    const modules = { ...this.#modules, limits: this.#options.limits, events }
    const witnesses = Math.floor(others / 2) + 1
    return copyBatches({ ...request, witnesses }, modules, this.#controller.signal)
  }

  #fail(streamPartId: StreamPartId, from: NodeId | undefined, error: unknown): void {
    this.#counters.failures++
    this.#modules.events.failed(streamPartId, from, error)
  }
}
