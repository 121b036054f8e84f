import {
  isRunnelError,
  type Clock,
  type MessageBatch,
  type NodeId,
  type ResendStart,
  type RunnelError,
  type StorageAnswer,
  type WantedNeighbour,
} from '@runnel/protocol'
import { deadline, onAbort } from '../deadline.ts'
import { clientError, reasonOf } from '../errors.ts'
import type { AccessTokens } from './access-tokens.ts'
import { AnswerProgress, type SourceRequest } from './answer-progress.ts'
import type { DirectRequest, DirectRequests } from './direct-requests.ts'
import type { ResendLimits } from './limits.ts'

export interface SourceModules {
  readonly requests: DirectRequests
  readonly tokens: AccessTokens
  readonly clock: Clock
  readonly limits: ResendLimits
  /** Begins to check a batch that has to wait for others; the signal says when it is not wanted any more. */
  readonly checkAhead?: ((batch: MessageBatch, signal: AbortSignal) => void) | undefined
}

/** Where the conversation with the storage node is. */
type State =
  /** A link is being opened; before `start` as well. */
  | { readonly kind: 'connecting' }
  /** The request is on its way; the answer has not begun. */
  | { readonly kind: 'asking'; readonly link: DirectRequest }
  | { readonly kind: 'answering'; readonly link: DirectRequest }
  /** The link broke, or the storage node asked to come back later. */
  | { readonly kind: 'broken'; readonly reason: RunnelError }
  /** All has come, if not all was taken. */
  | { readonly kind: 'complete' }
  | { readonly kind: 'failed'; readonly error: RunnelError }

/** Codes that asking again cannot change. */
const finalCodes: Readonly<Record<string, 'RESEND_DENIED' | 'RESEND_REFUSED'>> = {
  NOT_PERMITTED: 'RESEND_DENIED',
  TOKEN_INVALID: 'RESEND_DENIED',
  UNKNOWN_STREAM: 'RESEND_REFUSED',
  NOT_STORED: 'RESEND_REFUSED',
  STORE_FAILED: 'RESEND_REFUSED',
}

/** What a batch takes of the window: it is sent with the id of the request. */
const bytesOf = ({ bytes }: MessageBatch): number => bytes.length + 4

/**
 * One storage node's answer to one request, batch by batch as they are taken. Reopens a broken link and continues the answer
 * where it broke. Anything that does not belong in the answer ends it. Checks here that batches are in the selection and in
 * order; signatures and permissions are checked elsewhere.
 */
export class StorageSource {
  readonly nodeId: NodeId
  readonly peer: WantedNeighbour
  readonly #request: SourceRequest
  readonly #modules: SourceModules
  readonly #progress: AnswerProgress
  readonly #ending = new AbortController()
  #state: State = { kind: 'connecting' }
  /** Openings after a break, without a batch since. */
  #resumes = 0
  readonly #arrived: MessageBatch[] = []
  /** Bytes received but not taken yet, and bytes taken but not granted again yet. */
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
    this.#progress = new AnswerProgress(request, peer.nodeId, modules.limits)
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
      const state = this.#state
      if (state.kind === 'failed') throw state.error
      if (state.kind === 'broken') {
        if (state.reason.code === 'RESEND_LINK_LOST') this.#fail(state.reason)
        else await this.#resume(state.reason)
      } else if (this.#progress.extent !== undefined) return this.#progress.extent
      else await this.#arrival(this.#modules.limits.startTimeoutMs)
    }
  }

  /** The next batch; undefined when all have come. Rejects as `start` does. */
  async next(): Promise<MessageBatch | undefined> {
    for (;;) {
      const batch = this.#arrived.shift()
      if (batch !== undefined) {
        this.#arrivedBytes -= bytesOf(batch)
        this.#giveBack(bytesOf(batch))
        return batch
      }
      const state = this.#state
      if (state.kind === 'failed') throw state.error
      if (state.kind === 'complete') return undefined
      if (state.kind === 'broken') await this.#resume(state.reason)
      else await this.#batch()
    }
  }

  /** Starts, and gives all batches. Cancels when the loop is left or the signal aborted. Rejects as `start` does. */
  async *batches(signal?: AbortSignal): AsyncGenerator<MessageBatch, void, undefined> {
    const forget = onAbort(signal, () => this.cancel())
    try {
      if (signal?.aborted === true) this.cancel()
      await this.start()
      for (let batch = await this.next(); batch !== undefined; batch = await this.next()) yield batch
    } finally {
      forget()
      this.cancel()
    }
  }

  /** Nothing more is wanted, nor what has arrived and was not taken. Idempotent. */
  cancel(): void {
    const error = clientError('ABORTED')
    // Whoever asks for the next batch then must not believe that all have come.
    if (this.#state.kind === 'complete' && this.#arrived.length > 0) this.#enter({ kind: 'failed', error })
    else this.#fail(error)
    this.#arrived.length = 0
    this.#ending.abort()
  }

  async #open(): Promise<void> {
    if (this.#state.kind === 'failed') return
    const { requests, tokens, clock, limits } = this.#modules
    const { streamPartId, publisherId, messageChainId, windowBytes } = this.#request
    const { signal, end } = deadline(clock, limits.startTimeoutMs, this.#ending.signal)
    const opening: State = { kind: 'connecting' }
    this.#enter(opening)
    this.#takenBytes = 0
    try {
      const link = await requests.open(this.peer, streamPartId, this.#listener(opening), signal)
      if (this.#state !== opening) return link.close()
      this.#enter({ kind: 'asking', link })
      const selection = this.#progress.left
      const token = tokens.tokenFor(this.nodeId)
      const request = { streamPartId, selection, publisherId, messageChainId, windowBytes, token }
      const isSent = await link.send({ type: 'resend', requestId: link.requestId, ...request })
      if (!isSent) this.#lose(link)
    } catch (error) {
      if (this.#state !== opening) return
      this.#break(this.#linkLost(error))
    } finally {
      end()
    }
  }

  async #resume(breakage: RunnelError): Promise<void> {
    const { limits } = this.#modules
    if (this.#resumes >= limits.maxResumes) return this.#fail(breakage)
    const pauseMs = limits.minResumeBackoffMs * 2 ** this.#resumes
    this.#resumes++
    await this.#isQuietFor(pauseMs)
    await this.#open()
  }

  /** Waits for more; how long depends on what has arrived so far, so that a source that only trickles is given up. */
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
    if (!(await this.#isQuietFor(timeoutMs))) return
    this.#fail(clientError('RESEND_TIMEOUT', `${this.nodeId} sent nothing for ${timeoutMs} ms`))
  }

  /** False as soon as something happens. */
  #isQuietFor(delayMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.#modules.clock.schedule(delayMs, () => resolve(true))
      this.#wake = () => {
        cancel()
        resolve(false)
      }
    })
  }

  /** For one link: late packets of the previous link are ignored. */
  #listener(opening: State) {
    return {
      onAnswer: (answer: StorageAnswer) => {
        try {
          this.#accept(answer)
        } catch (error) {
          if (!isRunnelError(error, 'RESEND_INVALID_ANSWER')) throw error
          this.#fail(error)
        }
        this.#wake()
      },
      onLinkClosed: () => {
        if (this.#state === opening || 'link' in this.#state) this.#break(this.#linkLost())
      },
    }
  }

  /** Throws RESEND_INVALID_ANSWER. */
  #accept(answer: StorageAnswer): void {
    const state = this.#state
    if (!('link' in state)) return
    const hasBegun = state.kind === 'answering'
    switch (answer.type) {
      case 'resendStart':
        if (hasBegun) throw this.#progress.invalid('a second beginning')
        this.#progress.begin(answer)
        this.#state = { kind: 'answering', link: state.link }
        return
      case 'resendData':
        if (!hasBegun) throw this.#progress.invalid('a batch before the beginning')
        return this.#acceptBatch(answer.batch)
      case 'resendEnd':
        if (answer.code !== '') return this.#refused(answer.code, answer.text)
        if (!hasBegun) throw this.#progress.invalid('an end without a beginning')
        return this.#complete()
      default:
        throw this.#progress.invalid('a packet of another request')
    }
  }

  #acceptBatch(batch: MessageBatch): void {
    if (this.#arrivedBytes > this.#modules.limits.maxOverrunBytes) {
      throw this.#progress.invalid('more than was allowed')
    }
    const standing = this.#progress.add(batch, this.#resumes > 0)
    // What went before is sent again when an answer is continued, as batches may reach into the rest.
    if (standing === 'repeated') return this.#giveBack(bytesOf(batch))
    if (standing === 'ahead') this.#resumes = 0
    this.#arrivedBytes += bytesOf(batch)
    this.#receivedBytes += bytesOf(batch)
    if (this.#arrived.length > 0) this.#modules.checkAhead?.(batch, this.#ending.signal)
    this.#arrived.push(batch)
  }

  #complete(): void {
    const { missing } = this.#progress
    if (missing === 0) return this.#enter({ kind: 'complete' })
    this.#fail(clientError('RESEND_INCOMPLETE', `${this.nodeId} did not send ${missing} of its messages`))
  }

  #refused(code: string, text: string): void {
    const detail = `${this.nodeId} answered ${code}${text === '' ? '' : `: ${text}`}`
    const final = code.startsWith('DELEGATION_') ? 'RESEND_DENIED' : finalCodes[code]
    if (final !== undefined) this.#fail(clientError(final, detail))
    else this.#break(clientError('RESEND_REFUSED', detail))
  }

  /** Bytes were taken: lets the storage node send as many more, a good part of the window at once. */
  #giveBack(bytes: number): void {
    this.#takenBytes += bytes
    const state = this.#state
    if (this.#takenBytes * 4 < this.#request.windowBytes || !('link' in state)) return
    const { link } = state
    const granted = this.#takenBytes
    this.#takenBytes = 0
    void link.send({ type: 'resendMore', requestId: link.requestId, bytes: granted }).then((isSent) => {
      if (!isSent) this.#lose(link)
    })
  }

  /** A link took nothing more. */
  #lose(link: DirectRequest): void {
    if ('link' in this.#state && this.#state.link === link) this.#break(this.#linkLost())
  }

  #break(reason: RunnelError): void {
    this.#enter({ kind: 'broken', reason })
  }

  #linkLost(cause?: unknown): RunnelError {
    const because = cause === undefined ? '' : ` (${reasonOf(cause)})`
    return clientError('RESEND_LINK_LOST', `${this.nodeId}${because}`, { cause })
  }

  /** Ends it permanently; does nothing when it has ended. */
  #fail(error: RunnelError): void {
    const state = this.#state
    if (state.kind === 'complete' || state.kind === 'failed') return
    if ('link' in state) void state.link.send({ type: 'resendCancel', requestId: state.link.requestId })
    if (error.code === 'RESEND_INVALID_ANSWER') this.#arrived.length = 0
    this.#enter({ kind: 'failed', error })
    this.#ending.abort()
  }

  #enter(state: State): void {
    const before = this.#state
    this.#state = state
    if ('link' in before && !('link' in state)) before.link.close()
    this.#wake()
  }
}

/** The share of each of so many sources. */
export function windowFor(sources: number, limits: ResendLimits): number {
  const share = Math.floor(limits.maxWindowBytes / Math.max(1, sources))
  return Math.min(Math.max(share, limits.minSourceWindowBytes), limits.maxSourceWindowBytes, 2 ** 32 - 1)
}
