import {
  compareRefs,
  parseStreamPartId,
  type Clock,
  type Contradiction,
  type MessageBatch,
  type MessageChain,
  type MessageRef,
  type NodeId,
  type ResendSelection,
  type StreamMessage,
  type StreamPartId,
} from '@runnel/protocol'
import type { Gap } from '@runnel/network'
import { clientError } from '../errors.ts'
import type { BatchCheck, Verdict } from './batch-check.ts'
import { LastWindow } from './last-window.ts'
import { BatchMerge, type Candidate, type MergedBatch } from './merge.ts'
import { PartSources, type PartEvents, type PartPlan, type StartedSource } from './part-sources.ts'
import { firstPlace, lastPlace, placeBefore, placeOf } from './selection.ts'
import { StorageSource, windowFor, type SourceModules } from './storage-source.ts'

/** What to read, and from whom. */
export interface HistoryPlan {
  readonly parts: readonly PartPlan[]
  readonly selection: ResendSelection
  readonly publisherId: NodeId | undefined
  readonly messageChainId: string | undefined
}

interface HistoryEvents extends PartEvents {
  /** Messages that are named by others and that no storage node has. */
  gap(gap: Gap): void
  /** A publisher signed two messages for one place: different storage nodes have different ones. */
  equivocation(contradiction: Contradiction): void
  /** Messages left out because their publisher may not publish, or may no longer and too few storage nodes have them. */
  denied(chain: MessageChain, count: number): void
}

export interface HistoryModules extends SourceModules {
  readonly check: BatchCheck
  readonly clock: Clock
  readonly events: HistoryEvents
}

/** Messages of one run, unless the last one filled a gap. */
const maxRun = 256
/** Bytes of their content, unless a single one has more. */
const maxRunBytes = 32 * 1024

/** Messages that are there at once, on their way out. */
interface Run {
  readonly messages: StreamMessage[]
  bytes: number
}

const isFull = ({ messages, bytes }: Run): boolean => messages.length >= maxRun || bytes >= maxRunBytes

interface Claim {
  readonly part: PartSources
  readonly from: MessageRef
}

interface OpenSource extends StartedSource {
  readonly part: PartSources
  /** What it was asked for last: there once it came. */
  reading: Promise<void> | undefined
  arrived: MessageBatch | 'end' | 'failure' | undefined
  hasEnded: boolean
  /** How long others have waited for it lately. */
  heldUpMs: number
}

/**
 * Reads stored messages from the storage nodes of some stream parts: verified, in order, each once. Several storage
 * nodes of a stream part are read side by side, so that one fills in what another lacks.
 */
export class HistoryReader {
  readonly #plan: HistoryPlan
  readonly #modules: HistoryModules
  #merge: BatchMerge
  readonly #parts = new Map<number, PartSources>()
  readonly #sources = new Map<number, OpenSource>()
  #nextSource = 0
  /** Where sources that were asked for the last so many say that these begin. */
  readonly #claims = new Map<number, Claim>()
  #areClaimsUsed = true
  /** Messages left out because of that. */
  #leftOut = 0
  /** What is read, when all sources have said what they have. */
  #from: MessageRef = firstPlace
  #to: MessageRef = lastPlace
  /** Of chains that nothing is known of, messages that others name are missing from here on: what was kept since. */
  #keptFrom: MessageRef | undefined
  #gapFills = 0
  #takenSinceForgiven = 0
  /** Gaps that may be before the last so many. */
  #withheldGaps: Gap[] | undefined

  constructor(plan: HistoryPlan, modules: HistoryModules) {
    this.#plan = plan
    this.#modules = modules
    this.#merge = new BatchMerge(modules.limits)
    if (plan.selection.kind !== 'range') return
    this.#from = plan.selection.from
    this.#to = plan.selection.to
  }

  /**
   * Messages in runs of what is there at once. Throws RESEND_FAILED, RESEND_DENIED, ABORTED, or what the registry throws.
   * To be iterated over once.
   */
  async *read(signal: AbortSignal): AsyncGenerator<readonly StreamMessage[], void, undefined> {
    const onAbort = () => this.#letGo()
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      throwIfAborted(signal)
      await this.#start()
      const { selection } = this.#plan
      if (selection.kind === 'last' && selection.count <= this.#modules.limits.maxExactLast) {
        yield* this.#exactLast(selection.count, signal)
      } else yield* this.#runs(signal)
    } catch (error) {
      throwIfAborted(signal)
      throw error
    } finally {
      signal.removeEventListener('abort', onAbort)
      this.#letGo()
    }
  }

  /** Exactly the last so many of all that comes, and those gaps that are among them. */
  async *#exactLast(
    count: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly StreamMessage[], void, undefined> {
    const window = new LastWindow({ maxMessages: count, maxBytes: this.#modules.limits.maxExactLastBytes })
    const gaps: Gap[] = []
    this.#withheldGaps = gaps
    let taken = 0
    for await (const run of this.#runs(signal)) {
      taken += run.length
      const early = run.flatMap((message) => window.push(message))
      if (gaps.length > count) gaps.splice(0, gaps.length, ...gaps.filter((gap) => window.reaches(gap.upTo)))
      if (early.length === 0) continue
      gaps.splice(0).forEach((gap) => this.#modules.events.gap(gap))
      yield early
    }
    if (taken < count && this.#leftOut > 0) {
      // There were not as many as was said, and others were left out for them.
      await this.#startOver()
      yield* this.#exactLast(count, signal)
      return
    }
    gaps.filter((gap) => window.reaches(gap.upTo)).forEach((gap) => this.#modules.events.gap(gap))
    yield window.end()
  }

  /** Asks again those that did not fail, and believes nobody where the last begin. */
  async #startOver(): Promise<void> {
    const failed = new Set([...this.#parts.values()].flatMap((part) => part.failed))
    this.#letGo()
    this.#merge = new BatchMerge(this.#modules.limits)
    this.#claims.clear()
    this.#areClaimsUsed = false
    this.#leftOut = 0
    this.#from = firstPlace
    this.#keptFrom = undefined
    await this.#start(failed)
  }

  async #start(failed: ReadonlySet<NodeId> = new Set()): Promise<void> {
    const { parts, publisherId, messageChainId } = this.#plan
    const { limits } = this.#modules
    const sources = parts.length * limits.maxSourcesPerPart
    const request = { publisherId, messageChainId, windowBytes: windowFor(sources, limits) }
    for (const plan of parts) {
      const { partition } = parseStreamPartId(plan.streamPartId)
      const storageNodes = plan.storageNodes.filter(({ nodeId }) => !failed.has(nodeId))
      this.#parts.set(partition, new PartSources({ ...plan, storageNodes }, request, this.#modules))
    }
    const { selection } = this.#plan
    await Promise.all(
      [...this.#parts.values()].map(async (part) => {
        for (const started of await part.start(selection)) this.#add(part, started, selection)
      }),
    )
  }

  #add(part: PartSources, started: StartedSource, asked: ResendSelection): void {
    const id = this.#nextSource++
    this.#sources.set(id, {
      ...started,
      part,
      reading: undefined,
      arrived: undefined,
      hasEnded: false,
      heldUpMs: 0,
    })
    this.#merge.add(id)
    const { count, from } = started.extent
    if (this.#keptFrom === undefined || compareRefs(from, this.#keptFrom) < 0) this.#keptFrom = from
    if (asked.kind !== 'last') return
    // Only one that has as many as were asked for knows where the last of all begin, at the earliest.
    this.#claims.set(id, { part, from: count === asked.count ? from : firstPlace })
    this.#narrow()
  }

  /**
   * What begins before the last of a stream part, as most of its sources say, need not be looked at. Nothing bears that
   * out before all has come: see `#exactLast`.
   */
  #narrow(): void {
    if (this.#plan.selection.kind !== 'last' || !this.#areClaimsUsed) return
    this.#from = firstPlace
    for (const part of this.#parts.values()) {
      const claims = [...this.#claims.values()].filter((claim) => claim.part === part)
      const places = claims.map(({ from }) => from).toSorted(compareRefs)
      const median = places[Math.floor((places.length - 1) / 2)]
      if (median !== undefined && compareRefs(median, this.#from) > 0) this.#from = median
    }
  }

  async *#runs(signal: AbortSignal): AsyncGenerator<readonly StreamMessage[], void, undefined> {
    let run: Run = { messages: [], bytes: 0 }
    try {
      for (;;) {
        throwIfAborted(signal)
        const behind = this.#merge.behind()
        if (isFull(run) || (run.messages.length > 0 && !this.#areReady(behind))) {
          yield run.messages
          run = { messages: [], bytes: 0 }
        }
        if (behind.length > 0) await this.#advance(behind)
        else if (!(await this.#takeInto(run))) {
          if (run.messages.length > 0) yield run.messages
          run = { messages: [], bytes: 0 }
          if (!(await this.#askSpared())) break
        }
      }
    } catch (error) {
      // What was taken before it happened was good.
      if (run.messages.length > 0) yield run.messages
      throw error
    }
    if (run.messages.length > 0) yield run.messages
  }

  #areReady(sources: readonly number[]): boolean {
    return sources.every((id) => this.#sources.get(id)?.source.isReady === true)
  }

  /** Takes messages as long as no source need be read on; false when there are none. */
  async #takeInto(run: Run): Promise<boolean> {
    do {
      const candidate = this.#merge.next()
      await this.#reportContradictions()
      if (candidate === undefined) return false
      const verdict = candidate.from.verdict === 'good' ? 'good' : await this.#verdictOf(candidate)
      if (verdict !== 'good') {
        await this.#refuse(candidate, verdict)
        return true
      }
      if (this.#isAfterGap(candidate)) run.messages.push(...(await this.#fillGap(candidate)))
      this.#merge.take()
      this.#forgive(candidate)
      run.messages.push(candidate.message)
      run.bytes += candidate.message.content.length
    } while (!isFull(run) && this.#merge.behind().length === 0)
    return true
  }

  /** Waits until one of those behind has something, or has held up others for too long. */
  async #advance(behind: readonly number[]): Promise<void> {
    const { clock } = this.#modules
    const open = behind.flatMap((id) => {
      const source = this.#sources.get(id)
      return source === undefined ? [] : [{ id, source }]
    })
    const holders = open.filter(({ id, source }) => this.#canDoWithout(id, source, behind))
    const patienceMs = holders.map(({ source }) => this.#maxHoldUpMs(source) - source.heldUpMs)
    const beganMs = clock.monotonicMs()
    let cancel = () => {}
    const impatience = new Promise<void>((resolve) => {
      if (holders.length > 0) cancel = clock.schedule(Math.max(0, Math.min(...patienceMs)), resolve)
    })
    await Promise.race([impatience, ...open.map(({ source }) => this.#readOn(source))])
    cancel()
    const heldUpMs = clock.monotonicMs() - beganMs
    await Promise.all(open.map(({ id, source }) => this.#takeArrived(id, source)))
    for (const { id, source } of holders) {
      source.heldUpMs += heldUpMs
      if (source.heldUpMs >= this.#maxHoldUpMs(source)) await this.#spare(id, source)
    }
  }

  #readOn(open: OpenSource): Promise<void> {
    open.reading ??= open.part.next(open.source).then(
      (batch) => void (open.arrived = batch ?? 'end'),
      // Was reported.
      () => void (open.arrived = 'failure'),
    )
    return open.reading
  }

  async #takeArrived(id: number, open: OpenSource): Promise<void> {
    const { arrived } = open
    if (arrived === undefined) return
    open.reading = undefined
    open.arrived = undefined
    if (arrived === 'failure') {
      await this.#replace(id, open)
    } else if (arrived === 'end') {
      open.hasEnded = true
      // Its batches are still to be checked.
      this.#merge.end(id)
    } else this.#merge.push(id, arrived, this.#wantedOf(arrived))
  }

  /** Another one of the same stream part has gone ahead of it, or has sent all it had. */
  #canDoWithout(id: number, { part }: OpenSource, behind: readonly number[]): boolean {
    return [...this.#sources].some(
      ([otherId, other]) => otherId !== id && other.part === part && !behind.includes(otherId),
    )
  }

  /** One that is left alone need only bring something new in time. */
  #maxHoldUpMs(open: OpenSource): number {
    const { maxHoldUpMs, idleTimeoutMs } = this.#modules.limits
    return this.#isAlone(open) ? idleTimeoutMs : maxHoldUpMs
  }

  #isAlone(open: OpenSource): boolean {
    return ![...this.#sources.values()].some(
      (other) => other !== open && other.part === open.part && !other.hasEnded,
    )
  }

  #forgive({ from }: Candidate): void {
    const open = this.#sources.get(from.source)
    if (open !== undefined && open.heldUpMs > 0 && this.#isAlone(open)) open.heldUpMs = 0
    if (++this.#takenSinceForgiven < this.#modules.limits.holdUpMessages) return
    this.#takenSinceForgiven = 0
    for (const source of this.#sources.values()) source.heldUpMs = 0
  }

  async #spare(id: number, open: OpenSource): Promise<void> {
    if (open.hasEnded || !this.#sources.has(id)) return
    const detail = `${open.source.nodeId}: others waited for it for ${Math.round(open.heldUpMs)} ms`
    const replaced = this.#replace(id, open)
    open.part.spare(open.source, clientError('RESEND_TOO_SLOW', detail))
    await replaced
  }

  /** Those that were too slow may have what comes after all that the others had. */
  async #askSpared(): Promise<boolean> {
    const asked = this.#whatIsLeft()
    const parts = [...this.#parts.values()]
    const started = await Promise.all(
      parts.map(async (part) => ({ part, sources: await part.startSpared(asked) })),
    )
    for (const { part, sources } of started) for (const source of sources) this.#add(part, source, asked)
    return started.some(({ sources }) => sources.length > 0)
  }

  #wantedOf({ messages }: MessageBatch): readonly StreamMessage[] {
    const until = messages.filter((message) => compareRefs(message, this.#to) <= 0)
    const wanted = until.filter((message) => compareRefs(message, this.#from) >= 0)
    this.#leftOut += until.length - wanted.length
    return wanted
  }

  async #replace(id: number, { part }: OpenSource): Promise<void> {
    this.#sources.delete(id)
    this.#merge.end(id)
    this.#claims.delete(id)
    this.#narrow()
    const asked = this.#whatIsLeft()
    const started = await part.replace(asked)
    if (started !== undefined) this.#add(part, started, asked)
  }

  #whatIsLeft(): ResendSelection {
    const { selection } = this.#plan
    const { position } = this.#merge
    if (position === undefined) return selection
    return { kind: 'range', from: position, to: this.#to }
  }

  /** Once both signatures are good. */
  async #reportContradictions(): Promise<void> {
    for (const { place, winner, loser } of this.#merge.contradictions()) {
      const verdicts = [await this.#check(winner), await this.#check(loser)]
      if (verdicts.includes('forged')) continue
      this.#merge.countEvidence()
      this.#modules.events.equivocation({ place, winner: winner.batch, loser: loser.batch })
    }
  }

  async #verdictOf({ from }: Candidate): Promise<Verdict> {
    const verdict = await this.#check(from)
    if (verdict === 'doubtful' && this.#isWitnessed(from)) from.verdict = 'good'
    return from.verdict ?? verdict
  }

  async #check(from: MergedBatch): Promise<Verdict> {
    from.verdict ??= await this.#modules.check.check(from.batch)
    return from.verdict
  }

  /** More than half of the storage nodes that are read for the stream part have the batch. */
  #isWitnessed({ source, batch }: MergedBatch): boolean {
    const part = this.#sources.get(source)?.part ?? this.#parts.get(batch.chain.partition)
    const read = [...this.#sources].filter(([, open]) => open.part === part)
    const holders = this.#merge.holders()
    return read.filter(([id]) => holders.has(id)).length * 2 > read.length
  }

  async #refuse({ from, message }: Candidate, verdict: Verdict): Promise<void> {
    const isWitnessed = this.#isWitnessed(from)
    this.#merge.discard()
    if (verdict === 'denied' || verdict === 'doubtful') {
      // What others have instead may be good: a batch may begin among real ones and end when its publisher might not publish.
      if (verdict === 'denied' && isWitnessed) from.batch.messages.forEach((left) => this.#merge.mark(left))
      this.#modules.events.denied(from.batch.chain, from.batch.messages.length)
      return
    }
    const open = this.#sources.get(from.source)
    if (open === undefined) return
    const detail = `${open.source.nodeId}: a message that ${message.publisherId} did not sign`
    open.part.fail(open.source, clientError('RESEND_INVALID_ANSWER', detail))
    await this.#replace(from.source, open)
  }

  /** The message names one before it that no source which is read has brought. */
  #isAfterGap({ message: { previous }, after }: Candidate): boolean {
    return previous !== undefined && compareRefs(previous, after ?? placeBefore(this.#gapFloor())) > 0
  }

  /** What those that stand by have of a gap; what is missing then is reported. */
  async #fillGap({ message, after: taken }: Candidate): Promise<readonly StreamMessage[]> {
    const { streamId, partition, publisherId, messageChainId, previous } = message
    const part = this.#parts.get(partition)
    if (part === undefined || previous === undefined) return []
    let after = taken ?? placeBefore(this.#gapFloor())
    const chain = { streamId, partition, publisherId, messageChainId }
    const upTo = placeOf(previous)
    const mayAsk = this.#gapFills++ < this.#modules.limits.maxGapFills
    const fillers = mayAsk ? await this.#askStandby(part, chain, after, upTo) : []
    for (const filler of fillers) {
      if (filler.previous !== undefined && compareRefs(filler.previous, after) > 0) {
        this.#reportGap(part.streamPartId, chain, after, filler.previous)
      }
      after = placeOf(filler)
      this.#merge.mark(filler)
    }
    if (compareRefs(upTo, after) > 0) this.#reportGap(part.streamPartId, chain, after, upTo)
    return fillers
  }

  #gapFloor(): MessageRef {
    const kept = this.#keptFrom
    return kept !== undefined && compareRefs(kept, this.#from) > 0 ? kept : this.#from
  }

  #reportGap(streamPartId: StreamPartId, chain: MessageChain, after: MessageRef, upTo: MessageRef): void {
    const gap = { streamPartId, chain, after, upTo: placeOf(upTo) }
    if (this.#withheldGaps === undefined) this.#modules.events.gap(gap)
    else this.#withheldGaps.push(gap)
  }

  /** Asks those standing by, one after the other, for the messages of a gap, until one has them all. */
  async #askStandby(
    part: PartSources,
    chain: MessageChain,
    after: MessageRef,
    upTo: MessageRef,
  ): Promise<readonly StreamMessage[]> {
    const found = new Map<string, StreamMessage>()
    for (const peer of part.standby) {
      if (part.isCancelled) break
      const request = {
        streamPartId: part.streamPartId,
        selection: { kind: 'range', from: after, to: upTo },
      } as const
      const { publisherId, messageChainId } = chain
      const windowBytes = this.#modules.limits.minSourceWindowBytes
      const source = new StorageSource(
        { ...request, publisherId, messageChainId, windowBytes },
        peer,
        this.#modules,
      )
      const end = part.watch(source)
      await collectGood(source, this.#modules, (message) => {
        if (compareRefs(message, after) > 0 && compareRefs(message, upTo) <= 0) {
          found.set(`${message.timestamp} ${message.sequenceNumber}`, message)
        }
      })
        .catch((error: unknown) => part.fail(source, error))
        .finally(end)
      if (found.size > 0) break
    }
    return [...found.values()].sort(compareRefs)
  }

  #letGo(): void {
    for (const part of this.#parts.values()) part.cancel()
    this.#parts.clear()
    this.#sources.clear()
  }
}

/** Reads a source to its end, as far as it is genuine. */
async function collectGood(
  source: StorageSource,
  { check, limits }: HistoryModules,
  take: (message: StreamMessage) => void,
): Promise<void> {
  let bytes = 0
  await source.start()
  for (let batch = await source.next(); batch !== undefined; batch = await source.next()) {
    bytes += batch.bytes.length
    const verdict = await check.check(batch)
    if (bytes > limits.maxExactLastBytes || verdict === 'forged') {
      source.cancel()
      return
    }
    if (verdict === 'good') batch.messages.forEach(take)
  }
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw clientError('ABORTED', undefined, { cause: signal.reason })
}
