import {
  compareRefs,
  parseStreamPartId,
  type Clock,
  type MessageBatch,
  type MessageRef,
  type NodeId,
  type ResendSelection,
  type ResendStart,
  type RunnelError,
  type StorageAnswer,
  type StreamPartId,
  type WantedNeighbour,
} from '@runnel/protocol'
import { deadline } from '../deadline.ts'
import { clientError, reasonOf } from '../errors.ts'
import type { AccessTokens } from './access-tokens.ts'
import type { DirectRequest, DirectRequests } from './direct-requests.ts'
import type { ResendLimits } from './limits.ts'
import { placeOf } from './selection.ts'

/** What a storage node is asked for. */
export interface SourceRequest {
  readonly streamPartId: StreamPartId
  readonly selection: ResendSelection
  readonly publisherId?: NodeId | undefined
  readonly messageChainId?: string | undefined
  /** Bytes it may send ahead of what is taken. */
  readonly windowBytes: number
}

export interface SourceModules {
  readonly requests: DirectRequests
  readonly tokens: AccessTokens
  readonly clock: Clock
  readonly limits: ResendLimits
}

interface Arrived {
  readonly batch: MessageBatch
  readonly bytes: number
}

/** Codes that asking again cannot change. */
const finalCodes: Readonly<Record<string, 'RESEND_DENIED' | 'RESEND_REFUSED'>> = {
  NOT_PERMITTED: 'RESEND_DENIED',
  TOKEN_INVALID: 'RESEND_DENIED',
  UNKNOWN_STREAM: 'RESEND_REFUSED',
  NOT_STORED: 'RESEND_REFUSED',
  STORE_FAILED: 'RESEND_REFUSED',
}

/**
 * One storage node's answer to one request, batch by batch as they are taken. A broken link is opened again, and the
 * answer continued where it broke. Whatever does not belong into the answer ends it: that batches are within the
 * selection and in order is seen to here, that they are signed by who may publish is not.
 */
export class StorageSource {
  readonly nodeId: NodeId
  readonly peer: WantedNeighbour
  readonly #request: SourceRequest
  readonly #modules: SourceModules
  readonly #streamPart: ReturnType<typeof parseStreamPartId>
  readonly #ending = new AbortController()
  #link: DirectRequest | undefined
  /** What the storage node said it would send; of the first answer, not of those that continue it. */
  #extent: ResendStart | undefined
  /** The answer under way has begun. */
  #isAnswered = false
  #isDone = false
  #failure: RunnelError | undefined
  /** The link broke, or the storage node asked to come back later. */
  #breakage: RunnelError | undefined
  #resumes = 0
  readonly #arrived: Arrived[] = []
  /** Where the newest batch began, and all batches that began there. */
  #reached: MessageRef | undefined
  readonly #atReached = new Set<string>()
  /** Messages of the selection that came. */
  #messages = 0
  /** Batches sent again in answers that continue this one. */
  #repeats = 0
  /** Bytes that came and were not taken yet, and that were taken and not yet granted anew. */
  #arrivedBytes = 0
  #takenBytes = 0
  /** Bytes of all batches that came, and how long they were waited for. */
  #receivedBytes = 0
  #waitedMs = 0
  #wake: () => void = () => {}

  constructor(request: SourceRequest, peer: WantedNeighbour, modules: SourceModules) {
    this.#request = request
    this.peer = peer
    this.#modules = modules
    this.nodeId = peer.nodeId
    this.#streamPart = parseStreamPartId(request.streamPartId)
  }

  /** A batch is there already: `next` will not have to wait. */
  get isReady(): boolean {
    return this.#arrived.length > 0
  }

  /**
   * Asks, and resolves with what the answer will come to. Rejects with RESEND_LINK_LOST, RESEND_TIMEOUT, RESEND_DENIED,
   * RESEND_REFUSED, RESEND_INVALID_ANSWER or ABORTED.
   */
  async start(): Promise<ResendStart> {
    await this.#open()
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure
      if (this.#breakage?.code === 'RESEND_LINK_LOST') throw this.#fail(this.#breakage)
      if (this.#breakage !== undefined) await this.#resume(this.#breakage)
      else if (this.#extent !== undefined) return this.#extent
      else await this.#arrival(this.#modules.limits.startTimeoutMs)
    }
  }

  /** The next batch; undefined when all have come. Rejects as `start` does. */
  async next(): Promise<MessageBatch | undefined> {
    for (;;) {
      const arrived = this.#arrived.shift()
      if (arrived !== undefined) {
        this.#arrivedBytes -= arrived.bytes
        this.#giveBack(arrived.bytes)
        return arrived.batch
      }
      if (this.#failure !== undefined) throw this.#failure
      if (this.#isDone) return undefined
      if (this.#breakage !== undefined) await this.#resume(this.#breakage)
      else await this.#batch()
    }
  }

  /** Nothing more is wanted. Idempotent. */
  cancel(): void {
    if (!this.#isDone) this.#fail(clientError('ABORTED'))
  }

  async #open(): Promise<void> {
    const { requests, clock, limits } = this.#modules
    const { signal, end } = deadline(clock, limits.startTimeoutMs, this.#ending.signal)
    const { streamPartId, publisherId, messageChainId, windowBytes } = this.#request
    this.#isAnswered = false
    this.#takenBytes = 0
    try {
      const link = await requests.open(this.peer, streamPartId, this.#listener(), signal)
      this.#link = link
      const isSent = await link.send({
        type: 'resend',
        requestId: link.requestId,
        streamPartId,
        selection: this.#whatIsLeft(),
        publisherId,
        messageChainId,
        windowBytes,
        token: this.#modules.tokens.tokenFor(this.nodeId),
      })
      if (!isSent) this.#break(clientError('RESEND_LINK_LOST', this.nodeId))
    } catch (error) {
      if (this.#ending.signal.aborted) return
      this.#break(clientError('RESEND_LINK_LOST', `${this.nodeId} (${reasonOf(error)})`, { cause: error }))
    } finally {
      end()
    }
    if (this.#ending.signal.aborted) this.#letGo()
  }

  #whatIsLeft(): ResendSelection {
    if (this.#extent === undefined) return this.#request.selection
    const { from, to } = this.#extent
    // It said that it has nothing.
    if (compareRefs(from, to) > 0) return this.#request.selection
    return { kind: 'range', from: this.#reached ?? from, to }
  }

  async #resume(breakage: RunnelError): Promise<void> {
    const { clock, limits } = this.#modules
    if (this.#resumes >= limits.maxResumes) throw this.#fail(breakage)
    const pauseMs = limits.minResumeBackoffMs * 2 ** this.#resumes
    this.#resumes++
    await new Promise<void>((resolve) => {
      const cancel = clock.schedule(pauseMs, resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
    if (this.#failure !== undefined) return
    this.#breakage = undefined
    await this.#open()
  }

  /** Waits for more, for as long as it may take by what has come so far: one that only trickles is given up. */
  async #batch(): Promise<void> {
    const { clock, limits } = this.#modules
    const { idleTimeoutMs, minSourceBytesPerSecond } = limits
    const allowedMs = idleTimeoutMs + (this.#receivedBytes / minSourceBytesPerSecond) * 1_000
    const beganMs = clock.monotonicMs()
    await this.#arrival(Math.max(0, Math.min(idleTimeoutMs, allowedMs - this.#waitedMs)))
    this.#waitedMs += clock.monotonicMs() - beganMs
  }

  /** Until something comes, at most so long. */
  async #arrival(timeoutMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#modules.clock.schedule(timeoutMs, () => {
        this.#fail(clientError('RESEND_TIMEOUT', `${this.nodeId} sent nothing for ${timeoutMs} ms`))
      })
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
  }

  /** Of one opening: what comes late from the one before is not heard. */
  #listener() {
    return {
      onAnswer: (answer: StorageAnswer) => {
        if (this.#isDone || this.#failure !== undefined) return
        const complaint = this.#accept(answer)
        if (complaint !== undefined) {
          this.#fail(clientError('RESEND_INVALID_ANSWER', `${this.nodeId}: ${complaint}`))
        }
        this.#wake()
      },
      onLinkClosed: () => this.#break(clientError('RESEND_LINK_LOST', this.nodeId)),
    }
  }

  /** What is wrong with an answer; undefined when nothing is. */
  #accept(answer: StorageAnswer): string | undefined {
    if (answer.type === 'resendStart') return this.#acceptStart(answer)
    if (answer.type === 'resendEnd') {
      this.#end(answer.code, answer.text)
      return undefined
    }
    if (answer.type === 'resendData') return this.#acceptBatch(answer.batch)
    return 'a packet of another request'
  }

  #acceptStart(start: ResendStart): string | undefined {
    if (this.#isAnswered) return 'a second beginning'
    this.#isAnswered = true
    if (this.#extent !== undefined) return undefined
    const { selection } = this.#request
    if (selection.kind === 'last' && start.count > selection.count)
      return 'more than the last that were asked for'
    this.#extent = selection.kind === 'last' ? start : within(selection, start)
    return undefined
  }

  #acceptBatch(batch: MessageBatch): string | undefined {
    const first = batch.messages[0]
    const last = batch.messages.at(-1)
    const extent = this.#extent
    if (!this.#isAnswered || extent === undefined) return 'a batch before the beginning'
    if (first === undefined || last === undefined || !this.#isAskedFor(batch)) {
      return 'a batch of something else'
    }
    if (compareRefs(last, extent.from) < 0 || compareRefs(first, extent.to) > 0) {
      return 'a batch outside of the selection'
    }
    const bytes = batch.bytes.length + requestIdBytes
    if (this.#arrivedBytes > this.#modules.limits.maxOverrunBytes) return 'more than was allowed'
    const ahead = this.#reached === undefined ? 1 : compareRefs(first, this.#reached)
    if (ahead < 0 || (ahead === 0 && this.#atReached.has(keyOf(batch)))) return this.#repeated(bytes)
    if (ahead > 0) this.#atReached.clear()
    if (this.#atReached.size >= this.#modules.limits.maxBatchesOfOnePlace) {
      return 'too many batches of one place'
    }
    this.#atReached.add(keyOf(batch))
    this.#reached = placeOf(first)
    if (ahead > 0) this.#resumes = 0
    this.#arrivedBytes += bytes
    this.#receivedBytes += bytes
    this.#arrived.push({ batch, bytes })
    for (const message of batch.messages) if (isWithin(message, extent)) this.#messages++
    return undefined
  }

  /** What went before is sent again when an answer is continued, as batches may reach into the rest. */
  #repeated(bytes: number): string | undefined {
    if (this.#resumes === 0) return 'batches out of order, or twice'
    if (++this.#repeats > this.#modules.limits.maxBatchesOfOnePlace) return 'the same batches again and again'
    this.#giveBack(bytes)
    return undefined
  }

  #isAskedFor({ chain }: MessageBatch): boolean {
    const { publisherId, messageChainId } = this.#request
    return (
      chain.streamId === this.#streamPart.streamId &&
      chain.partition === this.#streamPart.partition &&
      (publisherId === undefined || chain.publisherId === publisherId) &&
      (messageChainId === undefined || chain.messageChainId === messageChainId)
    )
  }

  #end(code: string, text: string): void {
    if (code === '') {
      if (!this.#isAnswered) {
        this.#fail(clientError('RESEND_INVALID_ANSWER', `${this.nodeId}: an end without a beginning`))
        return
      }
      const { count = 0 } = this.#extent ?? {}
      if (this.#request.selection.kind === 'last' && this.#messages < count) {
        const detail = `${this.nodeId} sent ${this.#messages} of ${count} messages`
        this.#fail(clientError('RESEND_INCOMPLETE', detail))
        return
      }
      this.#isDone = true
      this.#letGo()
      return
    }
    const detail = `${this.nodeId} answered ${code}${text === '' ? '' : `: ${text}`}`
    const final = finalCodes[code]
    if (final !== undefined) this.#fail(clientError(final, detail))
    else this.#break(clientError('RESEND_REFUSED', detail))
  }

  /** Bytes were taken: lets the storage node send as many more, a good part of the window at once. */
  #giveBack(bytes: number): void {
    this.#takenBytes += bytes
    const link = this.#link
    if (this.#takenBytes * 4 < this.#request.windowBytes || link === undefined || this.#isDone) return
    const granted = this.#takenBytes
    this.#takenBytes = 0
    void link.send({ type: 'resendMore', requestId: link.requestId, bytes: granted }).then((isSent) => {
      if (!isSent && this.#link === link) this.#break(clientError('RESEND_LINK_LOST', this.nodeId))
    })
  }

  #break(reason: RunnelError): void {
    if (this.#isDone || this.#failure !== undefined) return
    this.#breakage ??= reason
    this.#letGo()
    this.#wake()
  }

  /** Ends it for good; the first failure counts. */
  #fail(error: RunnelError): RunnelError {
    this.#failure ??= error
    const link = this.#link
    if (link !== undefined && !this.#isDone && this.#breakage === undefined) {
      void link.send({ type: 'resendCancel', requestId: link.requestId })
    }
    if (error.code === 'ABORTED' || error.code === 'RESEND_INVALID_ANSWER') this.#arrived.length = 0
    this.#ending.abort()
    this.#letGo()
    this.#wake()
    return this.#failure
  }

  #letGo(): void {
    this.#link?.close()
    this.#link = undefined
  }
}

/** What a batch is sent with; counts for the window. */
const requestIdBytes = 4

/** What a storage node has of a range: it may begin later, and end earlier. */
function within(
  { from, to }: { readonly from: MessageRef; readonly to: MessageRef },
  start: ResendStart,
): ResendStart {
  return {
    ...start,
    from: compareRefs(start.from, from) > 0 ? start.from : from,
    to: compareRefs(start.to, to) < 0 ? start.to : to,
  }
}

function isWithin(place: MessageRef, { from, to }: ResendStart): boolean {
  return compareRefs(place, from) >= 0 && compareRefs(place, to) <= 0
}

function keyOf({ chain, messages }: MessageBatch): string {
  const last = messages.at(-1)
  return `${chain.publisherId} ${chain.messageChainId} ${last?.timestamp} ${last?.sequenceNumber}`
}

/** The share of each of so many sources. */
export function windowFor(sources: number, limits: ResendLimits): number {
  const share = Math.floor(limits.maxWindowBytes / Math.max(1, sources))
  return Math.min(Math.max(share, limits.minSourceWindowBytes), limits.maxSourceWindowBytes, 2 ** 32 - 1)
}
