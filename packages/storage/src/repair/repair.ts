import type { RunnelClient } from '@runnel/client'
import type { Gap } from '@runnel/network'
import { oneAtATime, type Cancel, type NodeId, type StreamPartId } from '@runnel/protocol'
import { ownerOf, streamOf } from '../share-out.ts'
import type { StorageLimits } from '../storage-limits.ts'
import { untilDone } from '../waiting.ts'
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
  /** The oldest time for which messages are kept. */
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
 * Fetches from the other storage nodes what this one may have missed. It is not urgent: one stream part at a time, in pieces that
 * take turns with those of other owners. A gap that a publisher claims is requested for its chain only, and no further back than
 * this node has kept the stream part, so that messages cannot make storage nodes read other chains.
 */
export class Repair {
  readonly #options: RepairOptions
  readonly #modules: RepairModules
  /** From when on something may be missing. */
  readonly #missing = new Map<StreamPartId, number>()
  readonly #controller = new AbortController()
  readonly #counters = { copiedBatches: 0, refusedBatches: 0, failures: 0, refusedGaps: 0 }
  readonly #gaps: GapList
  /** When the parts were joined, in this run; by the monotonic clock. */
  readonly #joinedMs = new Map<StreamPartId, number>()
  /** Storage nodes that could not be asked, by stream part. */
  readonly #unasked = new Set<StreamPartId>()
  /** By the monotonic clock. */
  readonly #lonelySinceMs = new Map<StreamPartId, number>()
  /** Key parts in which something came, since the last round. */
  readonly #heardSinceMs = new Map<StreamPartId, number>()
  /** From when on too few could be asked for what needs several, and how often that was tried again. */
  readonly #undecided = new Map<StreamPartId, number>()
  readonly #witnessTries = new Map<StreamPartId, number>()
  /** Stream parts whose marks were not read yet since they were joined: until then no other is written. */
  readonly #unread = new Map<StreamPartId, object>()
  /** When what was missing of those joined before has been noted. */
  #lastNoted: Promise<void> = Promise.resolve()
  /** What marks are to say that are not written yet, or could not be. */
  readonly #unsaved = new Map<StreamPartId, number | undefined>()
  /** The stream part that is copied at present, and the earliest time that was found missing in it meanwhile. */
  #turn: { readonly streamPartId: StreamPartId; missedMs: number } | undefined
  #cancel: Cancel = () => {}
  /** How much the wall clock says more than the monotonic one, when that was looked at last. */
  #wallOffsetMs: number
  /** When the next round begins, by the monotonic clock; undefined while one is under way. */
  #dueMs: number | undefined

  constructor(options: RepairOptions, modules: RepairModules) {
    this.#options = options
    this.#modules = modules
    this.#wallOffsetMs = this.#measuredOffsetMs()
    const { maxRepairGaps, maxGapTries } = options.limits
    this.#gaps = new GapList({ max: maxRepairGaps, maxTries: maxGapTries })
  }

  /** A stream part is kept from now on. Rejects when what it misses cannot be noted; that is tried again. */
  joined(streamPartId: StreamPartId): Promise<void> {
    const { clock } = this.#modules
    this.#lonelySinceMs.set(streamPartId, clock.monotonicMs())
    this.#joinedMs.set(streamPartId, clock.monotonicMs())
    const joining = {}
    this.#unread.set(streamPartId, joining)
    // One after the other: the store does not take as many questions at once as there may be stream parts.
    const noted = this.#lastNoted.then(() => this.#noteMissed(streamPartId, joining))
    this.#lastNoted = noted.catch(() => {})
    return noted
  }

  async #noteMissed(streamPartId: StreamPartId, joining: object): Promise<void> {
    const { marks, clock } = this.#modules
    const { limits } = this.#options
    const onFailure = (error: unknown) => this.#fail(streamPartId, undefined, error)
    const retrying = { clock, limits, signal: this.#controller.signal, onFailure }
    const sinceMs = await untilDone(() => marks.missingSince(streamPartId), retrying).catch(() => undefined)
    // Stopped, or left meanwhile.
    if (sinceMs === undefined || this.#unread.get(streamPartId) !== joining) return
    this.#unread.delete(streamPartId)
    await this.missed(streamPartId, sinceMs - limits.repairMarginMs)
    this.#schedule(limits.settleMs)
  }

  /** What came until `storedUntilMs` is stored. Later batches may wait in the queue, and be given up with it when the node stops. */
  async left(streamPartId: StreamPartId, storedUntilMs: number): Promise<void> {
    const sinceMs = Math.min(this.#incompleteSinceMs(streamPartId) ?? Infinity, storedUntilMs)
    const isRead = !this.#unread.delete(streamPartId)
    this.#missing.delete(streamPartId)
    this.#unasked.delete(streamPartId)
    this.#lonelySinceMs.delete(streamPartId)
    this.#heardSinceMs.delete(streamPartId)
    this.#joinedMs.delete(streamPartId)
    this.#undecided.delete(streamPartId)
    this.#witnessTries.delete(streamPartId)
    this.#gaps.forget(streamPartId)
    if (isRead) await this.#save(streamPartId, sinceMs)
  }

  /** To be told of the neighbours of a stream part: without any, nothing arrives. */
  async neighboursChanged(streamPartId: StreamPartId, count: number): Promise<void> {
    const lonelySinceMs = this.#lonelySinceMs.get(streamPartId)
    if (count === 0) {
      if (lonelySinceMs !== undefined) return
      this.#lonelySinceMs.set(streamPartId, this.#modules.clock.monotonicMs())
      return this.#mark(streamPartId)
    }
    this.#lonelySinceMs.delete(streamPartId)
    if (lonelySinceMs === undefined) return
    await this.missed(streamPartId, this.#dateOf(lonelySinceMs) - this.#options.limits.repairMarginMs)
    this.#schedule(0)
  }

  /**
   * Something came in a key part. No gap shows what did not, as each record is alone in its chain; so what the others stored at about that
   * time is read with the next round.
   */
  heard(streamPartId: StreamPartId): void {
    if (!this.#heardSinceMs.has(streamPartId)) this.#heardSinceMs.set(streamPartId, this.#modules.clock.now())
  }

  /** Something of this time and after may be missing. It is fetched with the next round. */
  async missed(streamPartId: StreamPartId, sinceMs: number): Promise<void> {
    await this.#noticeClock()
    const from = Math.max(0, sinceMs)
    // The mark is as early already, but the copy may be past this time.
    if (this.#turn?.streamPartId === streamPartId) this.#turn.missedMs = Math.min(this.#turn.missedMs, from)
    if ((this.#missing.get(streamPartId) ?? Infinity) <= from) return
    this.#missing.set(streamPartId, from)
    await this.#mark(streamPartId)
  }

  /** A batch that has just come found no room. How old it says to be is its publisher's affair. */
  dropped(streamPartId: StreamPartId, firstMs: number): Promise<void> {
    const { repairMarginMs } = this.#options.limits
    return this.missed(streamPartId, Math.max(firstMs, this.#modules.clock.now() - repairMarginMs))
  }

  /** The network gave up messages that a publisher says there are. */
  gap({ streamPartId, chain, after, upTo }: Gap): void {
    const { repairMarginMs, maxGapReachMs } = this.#options.limits
    const { clock } = this.#modules
    const nowMs = clock.now()
    const joinedMs = this.#dateOf(this.#joinedMs.get(streamPartId) ?? clock.monotonicMs())
    const fromMs = Math.max(after.timestamp, joinedMs - repairMarginMs, nowMs - maxGapReachMs)
    const toMs = upTo.timestamp
    const isTaken = toMs >= fromMs && this.#gaps.add({ streamPartId, chain, fromMs, toMs })
    if (!isTaken) this.#counters.refusedGaps++
  }

  /** Writes the marks that could not be written. Before that, nothing may say that all is stored. Throws what the store throws. */
  async saveMarks(): Promise<void> {
    for (const [streamPartId, sinceMs] of this.#unsaved) await this.#save(streamPartId, sinceMs)
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

  /** When something was, by the wall clock as it is set now. */
  #dateOf(monotonicMs: number): number {
    const { clock } = this.#modules
    return Math.floor(clock.now() - (clock.monotonicMs() - monotonicMs))
  }

  #measuredOffsetMs(): number {
    const { clock } = this.#modules
    return Math.floor(clock.now() - clock.monotonicMs())
  }

  /**
   * Where the wall clock was set meanwhile: set back, what is missing since a date by the clock as it was is so since an earlier one; set
   * forward, what was copied until the date that it said lacks what came up to the one that it says now. Never rejects.
   */
  async #noticeClock(): Promise<void> {
    const { repairMarginMs } = this.#options.limits
    const byMs = this.#measuredOffsetMs() - this.#wallOffsetMs
    if (Math.abs(byMs) < repairMarginMs / 2) return
    this.#wallOffsetMs += byMs
    const beforeMs = this.#modules.clock.now() - byMs - repairMarginMs
    const missing =
      byMs > 0
        ? [...this.#joinedMs.keys()].map((id) => [id, beforeMs] as const)
        : [...this.#missing].map(([id, sinceMs]) => [id, sinceMs + byMs] as const)
    // What cannot be written down is missing all the same, and written with the other marks.
    for (const [id, sinceMs] of missing) await this.missed(id, sinceMs).catch(() => {})
    if (byMs > 0) return
    for (const [streamPartId, sinceMs] of this.#undecided) this.#undecided.set(streamPartId, sinceMs + byMs)
  }

  /** From when on something may be missing: what is known, and while there are no neighbours, what they would have sent. */
  #incompleteSinceMs(streamPartId: StreamPartId): number | undefined {
    const lonelySinceMs = this.#lonelySinceMs.get(streamPartId) ?? Infinity
    const lonelyFromMs = Math.max(0, this.#dateOf(lonelySinceMs) - this.#options.limits.repairMarginMs)
    const sinceMs = Math.min(this.#missing.get(streamPartId) ?? Infinity, lonelyFromMs)
    return sinceMs === Infinity ? undefined : sinceMs
  }

  async #mark(streamPartId: StreamPartId): Promise<void> {
    if (!this.#unread.has(streamPartId)) await this.#save(streamPartId, this.#incompleteSinceMs(streamPartId))
  }

  async #save(streamPartId: StreamPartId, sinceMs: number | undefined): Promise<void> {
    this.#unsaved.set(streamPartId, sinceMs)
    await this.#modules.marks.setPart(streamPartId, sinceMs)
    // Unless another was to be written meanwhile.
    if (this.#unsaved.get(streamPartId) === sinceMs) this.#unsaved.delete(streamPartId)
  }

  /** A round after this time, or earlier if one is due: whoever asks often puts nothing off. */
  #schedule(delayMs: number): void {
    const { clock } = this.#modules
    const dueMs = clock.monotonicMs() + delayMs
    if (this.#controller.signal.aborted || (this.#dueMs !== undefined && this.#dueMs <= dueMs)) return
    this.#cancel()
    this.#dueMs = dueMs
    this.#cancel = clock.schedule(delayMs, () => {
      this.#dueMs = undefined
      void this.run().then(() => this.#schedule(this.#options.intervalMs))
    })
  }

  /**
   * Owners take turns, and so do the stream parts of one owner. Gaps are requested between turns; what goes missing meanwhile
   * gets its turn, too.
   */
  async #round(): Promise<void> {
    await this.#noticeClock()
    for (const [streamPartId, sinceMs] of this.#heardSinceMs) {
      this.#heardSinceMs.delete(streamPartId)
      try {
        await this.missed(streamPartId, sinceMs - this.#options.limits.repairMarginMs)
      } catch (error) {
        this.#fail(streamPartId, undefined, error)
      }
    }
    const waiting = new Set<StreamPartId>()
    const done = new Set<StreamPartId>()
    const failedPublishers = new Set<NodeId>()
    do {
      await this.#repairGaps(failedPublishers)
      for (const [streamPartId] of Map.groupBy(waiting, ownerOf).values()) {
        if (this.#controller.signal.aborted) return
        if (streamPartId === undefined) continue
        waiting.delete(streamPartId)
        if (await this.#hasMore(streamPartId)) waiting.add(streamPartId)
        else done.add(streamPartId)
      }
      for (const id of [...this.#missing.keys(), ...this.#unasked]) if (!done.has(id)) waiting.add(id)
    } while (waiting.size > 0 && !this.#controller.signal.aborted)
  }

  async #hasMore(streamPartId: StreamPartId): Promise<boolean> {
    try {
      return await this.#repairPart(streamPartId)
    } catch (error) {
      this.#fail(streamPartId, undefined, error)
      return false
    } finally {
      this.#turn = undefined
    }
  }

  /** True when there is more to be copied at once. */
  async #repairPart(streamPartId: StreamPartId): Promise<boolean> {
    const { client, marks, clock, oldestMs } = this.#modules
    const { repairMarginMs, maxTurnBytes, maxTurnMs } = this.#options.limits
    const joinedMs = this.#joinedMs.get(streamPartId)
    if (joinedMs === undefined) {
      // Its mark says it, for when it is kept again.
      this.#missing.delete(streamPartId)
      this.#unasked.delete(streamPartId)
      return false
    }
    const missingSinceMs = this.#missing.get(streamPartId)
    const turn = { streamPartId, missedMs: Infinity }
    this.#turn = turn
    const nowMs = clock.now()
    const oldest = await oldestMs(streamPartId)
    const others = (await client.getStorageNodes(streamOf(streamPartId))).filter(
      ({ nodeId }) => nodeId !== client.nodeId,
    )
    const nodes: { node: (typeof others)[number]; sinceMs: number; unaskedMs: number | undefined }[] = []
    for (const node of others) {
      const unaskedMs = await marks.unasked(streamPartId, node.nodeId)
      // A date that is still to come was noted by a clock that was ahead, and says nothing.
      const isPast = unaskedMs === undefined || unaskedMs <= nowMs + repairMarginMs
      const sinceMs = Math.min(missingSinceMs ?? Infinity, isPast ? (unaskedMs ?? Infinity) : 0)
      if (sinceMs !== Infinity)
        nodes.push({ node, sinceMs: Math.max(Math.min(sinceMs, nowMs), oldest), unaskedMs })
    }
    // Publishers' clocks may be ahead.
    const toMs = nowMs + repairMarginMs
    const request = { streamPartId, nodes, toMs, maxBytes: maxTurnBytes, maxMs: maxTurnMs }
    const { restFromMs, hasMore, isUndecided } = await this.#copy(request, others.length)
    for (const { node, unaskedMs } of nodes) {
      const restMs = restFromMs.get(node.nodeId)
      // Each mark is a commit, and key parts are read every round.
      if (restMs !== unaskedMs) await marks.setUnasked(streamPartId, node.nodeId, restMs)
    }
    // What is still to be asked for is so if it is kept again.
    if (this.#joinedMs.get(streamPartId) !== joinedMs) return false
    if (restFromMs.size > 0) this.#unasked.add(streamPartId)
    else this.#unasked.delete(streamPartId)
    // What was found missing meanwhile is for the next round.
    if (missingSinceMs !== undefined && this.#missing.get(streamPartId) === missingSinceMs) {
      if (turn.missedMs === Infinity) this.#missing.delete(streamPartId)
      else this.#missing.set(streamPartId, turn.missedMs)
      await this.#mark(streamPartId)
    }
    if (isUndecided) {
      const fromMs = Math.min(...nodes.map(({ sinceMs }) => sinceMs))
      this.#undecided.set(streamPartId, Math.min(this.#undecided.get(streamPartId) ?? Infinity, fromMs))
    }
    if (!hasMore) await this.#askAgain(streamPartId)
    return hasMore
  }

  /** What needs several is asked of all in the next round: one that failed in this may be there then. */
  async #askAgain(streamPartId: StreamPartId): Promise<void> {
    const sinceMs = this.#undecided.get(streamPartId)
    this.#undecided.delete(streamPartId)
    const tries = this.#witnessTries.get(streamPartId) ?? 0
    if (sinceMs === undefined) this.#witnessTries.delete(streamPartId)
    else if (tries < this.#options.limits.maxWitnessTries) {
      this.#witnessTries.set(streamPartId, tries + 1)
      await this.missed(streamPartId, sinceMs)
    }
  }

  /** For a limited time, one gap of each publisher, unless one of its gaps failed in this round. */
  async #repairGaps(failedPublishers: Set<NodeId>): Promise<void> {
    const { client, clock } = this.#modules
    const untilMs = clock.monotonicMs() + this.#options.limits.maxGapTurnMs
    for (const gap of this.#gaps.nextOnes()) {
      if (this.#controller.signal.aborted || clock.monotonicMs() >= untilMs) return
      const { publisherId } = gap.chain
      if (failedPublishers.has(publisherId)) continue
      try {
        const nodes = await client.getStorageNodes(streamOf(gap.streamPartId))
        const others = nodes.filter(({ nodeId }) => nodeId !== client.nodeId)
        const { failed } = await this.#copy(this.#gapRequest(gap, others), others.length)
        this.#gaps.tried(gap, failed.size === 0)
        if (failed.size > 0) failedPublishers.add(publisherId)
      } catch (error) {
        this.#gaps.tried(gap, false)
        failedPublishers.add(publisherId)
        this.#fail(gap.streamPartId, undefined, error)
      }
    }
  }

  #gapRequest(
    { streamPartId, chain, fromMs, toMs }: ChainGap,
    others: readonly CopyRequest['nodes'][number]['node'][],
  ): Omit<CopyRequest, 'witnesses'> {
    const nodes = others.map((node) => ({ node, sinceMs: fromMs }))
    const { maxGapBytes, maxGapMs } = this.#options.limits
    return { streamPartId, nodes, toMs, chain, maxBytes: maxGapBytes, maxMs: maxGapMs }
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
