import type { Gap } from '@runnel/network'
import {
  compareRefs,
  isRunnelError,
  laterPlace,
  placeBefore,
  placeOf,
  type MessageChain,
  type MessageRef,
  type ResendSelection,
  type StreamMessage,
} from '@runnel/protocol'
import { clientError } from '../errors.ts'
import type { HistorySource } from '../resend/history-source.ts'
import type { PartPlan } from '../resend/part-sources.ts'
import { lastPlace, type History } from '../resend/selection.ts'
import { ChainHeads, keyOfChain } from './chain-heads.ts'
import { isWithin, LiveBuffer, type DroppedOfChain, type DroppedStretch } from './live-buffer.ts'
import { RecentMessages } from './recent-messages.ts'
import { streamPartOf, type LiveFlow, type Sink } from './live-flow.ts'

export interface HistoryJoinModules {
  /** Which storage nodes there are now: they change while history is read, and after. Rejects as `HistorySource.plan` does. */
  readonly plan: (signal: AbortSignal) => Promise<readonly PartPlan[]>
  readonly history: Pick<HistorySource, 'limits' | 'read'> & {
    readonly sourceModules: Pick<HistorySource['sourceModules'], 'clock'>
  }
  /** Where live messages go once history has come to them. */
  readonly flow: LiveFlow
  /** Where history goes. */
  readonly sink: Sink
  /** Resolves when a neighbour sends live messages or none was found in time; undefined when one does already. */
  readonly connected: Promise<void> | undefined
  /** Resolves when the application has room for more. */
  readonly room: () => Promise<void>
  /** History could not be read completely. */
  readonly onFailed: (error: unknown) => void
}

/** Live messages of a chain that wait for what lies between it and history. */
interface Waiting {
  readonly chain: MessageChain
  readonly buffer: LiveBuffer
  /** What went before it could wait here, and storage does not have. */
  lost?: DroppedOfChain | undefined
}

/** How far before the start of live messages, and before the newest of history, history is read again: clocks differ. */
const overlapMs = 10_000

/**
 * Joins history to live, without a gap and without anything twice. Live messages wait while history is read; what does not fit is
 * read from storage later. Then the first live message of each chain is compared with history, and storage is asked for the
 * messages between.
 */
export class HistoryJoin implements LiveFlow {
  readonly isOrdered: boolean
  /** As of the last reading. */
  #plan: readonly PartPlan[]
  #isPlanUsed = false
  readonly #wanted: History
  readonly #modules: HistoryJoinModules
  readonly #ending = new AbortController()
  readonly #buffer: LiveBuffer
  readonly #heads: ChainHeads
  /** How far live messages of the chains went that have come to history. */
  readonly #joined: ChainHeads
  readonly #waiting = new Map<string, Waiting>()
  /** History delivered last, to tell a live message that is late from one that is there already. */
  readonly #recent: RecentMessages
  readonly #earlyGaps: Gap[] = []
  /** Where history begins, as far as that is known. */
  #from: MessageRef | undefined
  /** There are fewer messages than were asked for: none is too old. */
  #isAll = false
  /** When the newest message of history was published. */
  #newestMs = 0
  #historyMessages = 0
  /** Live messages are on their way through the flow; only when none are left waiting, it is live. */
  #isFlowing = false
  #isLive = false
  /** Live messages for which there was no room that are being read from storage. */
  #fetching: DroppedStretch | undefined
  /** Why history could not be read completely: the first reason. */
  #failure: unknown
  #lastTurn: Promise<void> = Promise.resolve()

  constructor(options: { plan: readonly PartPlan[]; wanted: History }, modules: HistoryJoinModules) {
    const { limits } = modules.history
    this.#plan = options.plan
    this.#wanted = options.wanted
    this.#modules = modules
    this.isOrdered = modules.flow.isOrdered
    this.#buffer = new LiveBuffer({
      maxMessages: limits.maxBufferedLive,
      maxBytes: limits.maxBufferedLiveBytes,
    })
    this.#heads = new ChainHeads(limits.maxJoinedChains)
    this.#recent = new RecentMessages(limits.maxRecentHistory)
    this.#joined = new ChainHeads(limits.maxJoinedChains, (chain, last) => {
      if (this.#heads.get(chain) !== undefined) this.#heads.advance(chain, last)
    })
    if (this.#wanted.selection.kind === 'range') this.#from = this.#wanted.selection.from
    modules.flow.waitAlsoFor?.((chain, place) => this.#holds(chain, place))
  }

  get late(): number {
    return this.#modules.flow.late
  }

  /** Reads history, then lets live messages through. Rejects, after they flow, when history could not be read. */
  async run(): Promise<void> {
    const { clock } = this.#modules.history.sourceModules
    const beganMs = clock.now() - overlapMs
    try {
      await this.#read(this.#wanted.selection)
      const { selection } = this.#wanted
      if (selection.kind === 'last' && this.#historyMessages < selection.count) this.#beginAt(beganMs)
      if (this.#modules.connected !== undefined) {
        // Messages published between the two are in neither.
        await this.#modules.connected
        // By a clock that is ahead, they are from before the beginning.
        const sinceMs = Math.min(beganMs, this.#newestMs - overlapMs)
        await this.#readOn({ timestamp: Math.max(0, sinceMs), sequenceNumber: 0 }, lastPlace)
      }
      await this.#catchUp()
    } catch (error) {
      this.#fail(error)
    }
    await this.#goLive()
    if (this.#ending.signal.aborted) throw clientError('ABORTED')
    if (this.#failure !== undefined) throw this.#failure
  }

  #fail(error: unknown): void {
    if (!isRunnelError(error, 'ABORTED')) this.#modules.onFailed(error)
    this.#failure ??= error
  }

  message(message: StreamMessage): void {
    if (this.#isLive) this.#join(message)
    else this.#buffer.push(message)
  }

  gap(gap: Gap): void {
    if (this.#isLive) {
      this.#modules.flow.gap(gap)
      return
    }
    this.#earlyGaps.push(gap)
    if (this.#earlyGaps.length > this.#modules.history.limits.maxEarlyGaps) this.#earlyGaps.shift()
  }

  start(): void {}

  /** It has come, and waits for history or for room, or is read from storage as there was none. */
  #holds(chain: MessageChain, place: MessageRef): boolean {
    const waiting = this.#waiting.get(keyOfChain(chain))
    if (isWithin(place, this.#fetching)) return true
    return this.#buffer.holds(chain, place) || waiting?.buffer.holds(chain, place) === true
  }

  end(): void {
    this.#ending.abort()
    if (this.#isFlowing) this.#modules.flow.end()
  }

  async #read(selection: ResendSelection): Promise<void> {
    const { history, sink } = this.#modules
    const options = { signal: this.#ending.signal, onGap: (gap: Gap) => sink.gap(gap) }
    const plan = await this.#planNow()
    for await (const run of history.read(plan, { ...this.#wanted, selection }, options)) {
      for (const message of run) {
        await this.#room()
        this.#deliver(message)
      }
    }
  }

  /** The storage nodes to read from: those known last where it cannot be said which there are. */
  async #planNow(): Promise<readonly PartPlan[]> {
    if (this.#isPlanUsed)
      this.#plan = await this.#modules.plan(this.#ending.signal).catch((error: unknown) => {
        if (!isRunnelError(error)) throw error
        return this.#plan
      })
    this.#isPlanUsed = true
    return this.#plan
  }

  /** Resolves when there is room for a message; one waiter at a time, so that no two take the same room. */
  #room(): Promise<void> {
    this.#lastTurn = this.#lastTurn.then(() => this.#modules.room())
    return this.#lastTurn
  }

  /** Reads what belongs to history and came after it was read. */
  async #readOn(from: MessageRef, to: MessageRef): Promise<void> {
    const begin = this.#isAll ? from : laterPlace(this.#from, from)
    if (compareRefs(begin, to) <= 0) await this.#read({ kind: 'range', from: begin, to })
  }

  /** All of `last` has arrived: nothing published from now on may be missing. */
  #beginAt(timestamp: number): void {
    const place = { timestamp: Math.max(0, timestamp), sequenceNumber: 0 }
    this.#isAll = true
    if (this.#from === undefined || compareRefs(place, this.#from) < 0) this.#from = place
  }

  #deliver(message: StreamMessage): void {
    this.#from ??= placeOf(message)
    this.#historyMessages++
    this.#newestMs = Math.max(this.#newestMs, message.timestamp)
    if (!this.#heads.advance(message, message)) return
    this.#recent.add(message)
    this.#modules.sink.message(message)
  }

  /** What live messages there was no room for, from storage; more may come meanwhile. */
  async #catchUp(): Promise<void> {
    for (let i = 0; i < this.#modules.history.limits.maxCatchUps; i++) {
      const dropped = this.#buffer.takeDropped()
      if (dropped === undefined) return
      await this.#readOn(dropped.from, dropped.to)
      this.#reportLost(dropped)
    }
  }

  /**
   * Delivers the waiting live messages as the application has room; messages that arrive meanwhile wait, too. A consumer that
   * never catches up keeps reading from storage what does not fit.
   */
  async #goLive(): Promise<void> {
    if (this.#ending.signal.aborted) return
    this.#isFlowing = true
    for (const [chain, last] of this.#heads) this.#modules.flow.start(chain, last)
    for (;;) {
      await this.#room()
      if (this.#ending.signal.aborted) return
      const dropped = this.#buffer.takeDropped()
      if (dropped === undefined) {
        const next = this.#buffer.shift()
        if (next === undefined) break
        this.#join(next)
      } else await this.#fetchStretch(dropped)
    }
    this.#isLive = true
    for (const gap of this.#earlyGaps.splice(0)) this.#modules.flow.gap(gap)
  }

  /** Live messages of all chains for which there was no room, from storage. */
  async #fetchStretch(stretch: DroppedStretch): Promise<void> {
    const { history, sink, flow } = this.#modules
    const { from, to } = stretch
    const selection = { kind: 'range', from, to } as const
    const onGap = (gap: Gap) => {
      if (!this.isOrdered) sink.gap(gap)
    }
    const options = { signal: this.#ending.signal, onGap }
    this.#fetching = stretch
    let isWhole = false
    try {
      const plan = await this.#planNow()
      for await (const run of history.read(plan, { ...this.#wanted, selection }, options)) {
        for (const message of run) {
          await this.#room()
          this.#join(message)
        }
      }
      isWhole = true
    } catch (error) {
      if (!isRunnelError(error)) throw error
      this.#fail(error)
      // From its next message on, each chain looks for missing messages and reports the unavailable ones.
      this.#joined.clear()
    } finally {
      this.#fetching = undefined
    }
    flow.recheck?.()
    if (isWhole) this.#reportLost(stretch)
  }

  /**
   * What there was no room for and storage does not have either. Where more of a chain follows, a flow that keeps order reports it with that; of a
   * chain that waits it is not known before what waits has been delivered.
   */
  #reportLost({ chains }: DroppedStretch): void {
    const goingOn = this.#buffer.chains()
    for (const [key, lost] of chains) {
      const waiting = this.#waiting.get(key)
      if (waiting !== undefined) waiting.lost = { ...lost, after: waiting.lost?.after ?? lost.after }
      else if (!this.isOrdered || !goingOn.has(key)) this.#reportLostOf(lost)
    }
  }

  #reportLostOf({ chain, after: before, upTo }: DroppedOfChain): void {
    const after = this.#heads.get(chain) ?? laterPlace(this.#floorOf(chain), before)
    if (compareRefs(upTo, after) <= 0 || this.#isBefore(upTo)) return
    this.#heads.advance(chain, upTo)
    this.#modules.sink.gap({ streamPartId: streamPartOf(chain), chain, after, upTo })
    this.#modules.flow.start(chain, upTo)
  }

  #join(message: StreamMessage): void {
    // Neighbours replay recent messages to newcomers; these may be older than what was asked for.
    if (this.#isBefore(message)) return
    const key = keyOfChain(message)
    const waiting = this.#waiting.get(key)
    if (waiting !== undefined) {
      waiting.buffer.push(message)
      return
    }
    if (this.#joined.get(message) === undefined) {
      const floor = this.#floorOf(message)
      const { previous } = message
      if (previous !== undefined && floor !== undefined && compareRefs(previous, floor) > 0) {
        this.#waitFor(key, message, floor, placeOf(previous))
        return
      }
    }
    this.#pass(message)
  }

  /** Up to where a chain of which no live message is known has been delivered. */
  #floorOf(chain: MessageChain): MessageRef | undefined {
    const head = this.#heads.get(chain)
    if (head !== undefined) return head
    const read = this.#heads.forgottenUpTo ?? (this.#from && placeBefore(this.#from))
    return read && laterPlace(this.#joined.forgottenUpTo, read)
  }

  /** It is older than what was asked for. */
  #isBefore(place: MessageRef): boolean {
    return !this.#isAll && this.#from !== undefined && compareRefs(place, this.#from) < 0
  }

  #pass(message: StreamMessage): void {
    this.#joined.advance(message, message)
    const head = this.#heads.get(message)
    // One that history did not bring is late, and storage did not have it either.
    if (head !== undefined && compareRefs(message, head) <= 0 && this.#recent.has(message)) return
    // Once it is live, nothing that was passed on can come from storage as well.
    if (!this.#isLive || this.#waiting.has(keyOfChain(message))) this.#note(message)
    this.#modules.flow.message(message)
  }

  #note(message: StreamMessage): void {
    this.#heads.advance(message, message)
    this.#recent.add(message)
  }

  #waitFor(key: string, message: StreamMessage, after: MessageRef, upTo: MessageRef): void {
    const { streamId, partition, publisherId, messageChainId } = message
    const chain = { streamId, partition, publisherId, messageChainId }
    const { maxWaitingChains, maxWaitingLive, maxWaitingLiveBytes } = this.#modules.history.limits
    if (this.#waiting.size >= maxWaitingChains) {
      this.#giveUp(chain, after, upTo)
      this.#pass(message)
      return
    }
    const buffer = new LiveBuffer({ maxMessages: maxWaitingLive, maxBytes: maxWaitingLiveBytes })
    buffer.push(message)
    const waiting: Waiting = { chain, buffer }
    this.#waiting.set(key, waiting)
    this.#fetchBetween(chain, after, upTo)
      .then(() => this.#letThrough(waiting))
      .catch((error: unknown) => this.#modules.onFailed(error))
      .finally(() => this.#forgetWaiting(waiting))
  }

  #forgetWaiting(waiting: Waiting): void {
    const key = keyOfChain(waiting.chain)
    if (this.#waiting.get(key) === waiting) this.#waiting.delete(key)
  }

  /** Delivers the waiting live messages of a chain as there is room, and from storage those that did not fit. */
  async #letThrough(waiting: Waiting): Promise<void> {
    const { chain, buffer } = waiting
    let catchUps = 0
    for (;;) {
      await this.#room()
      if (this.#ending.signal.aborted) return
      const dropped = buffer.takeDropped()
      if (dropped === undefined) {
        const next = buffer.shift()
        this.#reportLostBefore(next, waiting)
        if (next === undefined) {
          // At once: what comes from now on would wait here for nobody.
          this.#forgetWaiting(waiting)
          return
        }
        this.#pass(next)
        continue
      }
      const after = this.#heads.get(chain) ?? placeBefore(dropped.from)
      const mayFetch = catchUps++ < this.#modules.history.limits.maxCatchUps
      if (mayFetch) await this.#fetchBetween(chain, after, dropped.to)
      else this.#giveUp(chain, after, dropped.to)
    }
  }

  #reportLostBefore(next: StreamMessage | undefined, waiting: Waiting): void {
    const { lost } = waiting
    if (lost === undefined) return
    // A flow that keeps order reports it with the next message.
    if (next !== undefined && (this.isOrdered || compareRefs(next, lost.upTo) <= 0)) return
    waiting.lost = undefined
    this.#reportLostOf(lost)
  }

  /** The messages of a chain between history and live. What storage does not have either is reported. */
  async #fetchBetween(chain: MessageChain, after: MessageRef, upTo: MessageRef): Promise<void> {
    const { history, flow } = this.#modules
    const streamPartId = streamPartOf(chain)
    const { publisherId, messageChainId } = chain
    let reached = after
    flow.start(chain, after)
    try {
      const selection = { kind: 'range', from: after, to: upTo } as const
      const plan = (await this.#planNow()).filter((part) => part.streamPartId === streamPartId)
      const options = { signal: this.#ending.signal, onGap: () => {} }
      for await (const run of history.read(plan, { selection, publisherId, messageChainId }, options)) {
        for (const message of run) {
          const { previous } = message
          if (compareRefs(message, reached) <= 0) continue
          await this.#room()
          if (previous !== undefined && compareRefs(previous, reached) > 0) {
            this.#giveUp(chain, reached, placeOf(previous))
          }
          reached = placeOf(message)
          this.#note(message)
          flow.message(message)
        }
      }
    } catch (error) {
      if (this.#ending.signal.aborted) return
      if (!isRunnelError(error)) throw error
    }
    if (compareRefs(upTo, reached) > 0) this.#giveUp(chain, reached, upTo)
  }

  /** A flow that keeps order reports it by itself, with the message that comes next. */
  #giveUp(chain: MessageChain, after: MessageRef, upTo: MessageRef): void {
    if (this.isOrdered) this.#modules.flow.start(chain, after)
    else this.#modules.sink.gap({ streamPartId: streamPartOf(chain), chain, after, upTo })
  }
}
