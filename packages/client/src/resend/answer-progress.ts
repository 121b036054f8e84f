import {
  compareRefs,
  parseStreamPartId,
  placeOf,
  type MessageBatch,
  type MessageRef,
  type NodeId,
  type ResendSelection,
  type ResendStart,
  type RunnelError,
  type StreamPartId,
} from '@runnel/protocol'
import { clientError } from '../errors.ts'
import type { ResendLimits } from './limits.ts'

/** What a storage node is asked for. */
export interface SourceRequest {
  readonly streamPartId: StreamPartId
  readonly selection: ResendSelection
  readonly publisherId?: NodeId | undefined
  readonly messageChainId?: string | undefined
  /** Bytes it may send before earlier ones are taken. */
  readonly windowBytes: number
}

/** The position of a batch in the answer: after all others, starting at the same message as the newest, or sent before. */
type Standing = 'ahead' | 'beside' | 'repeated'

/**
 * Tracks one storage node's answer and checks that it is valid: batches match the request and the announcement, are in order, and
 * arrive once. Its methods throw RESEND_INVALID_ANSWER.
 */
export class AnswerProgress {
  readonly #request: SourceRequest
  readonly #nodeId: NodeId
  readonly #limits: ResendLimits
  readonly #streamPart: ReturnType<typeof parseStreamPartId>
  /** What the storage node announced in its first answer; later answers, which continue it, do not count. */
  #extent: ResendStart | undefined
  /** Where the newest batch began, and all batches that began there. */
  #reached: MessageRef | undefined
  readonly #atReached = new Set<string>()
  /** Messages of the selection that came. */
  #messages = 0
  /** Batches sent again in answers that continue this one. */
  #repeats = 0

  constructor(request: SourceRequest, nodeId: NodeId, limits: ResendLimits) {
    this.#request = request
    this.#nodeId = nodeId
    this.#limits = limits
    this.#streamPart = parseStreamPartId(request.streamPartId)
  }

  get extent(): ResendStart | undefined {
    return this.#extent
  }

  /** What to ask for when the answer broke off here. */
  get left(): ResendSelection {
    // An answer that was to be empty ends before it begins.
    if (this.#extent === undefined || compareRefs(this.#extent.from, this.#extent.to) > 0) {
      return this.#request.selection
    }
    return { kind: 'range', from: this.#reached ?? this.#extent.from, to: this.#extent.to }
  }

  /** Messages that were announced and did not come. */
  get missing(): number {
    if (this.#request.selection.kind !== 'last') return 0
    return Math.max(0, (this.#extent?.count ?? 0) - this.#messages)
  }

  begin(start: ResendStart): void {
    if (this.#extent !== undefined) return
    const { selection } = this.#request
    if (selection.kind === 'last' && start.count > selection.count) {
      throw this.invalid('more than the last that were asked for')
    }
    this.#extent = selection.kind === 'last' ? start : within(selection, start)
  }

  /** Batches may come again after a break only. */
  add(batch: MessageBatch, isContinued: boolean): Standing {
    const extent = this.#extent
    const [first, last] = [batch.messages[0], batch.messages.at(-1)]
    if (extent === undefined) throw this.invalid('a batch before the beginning')
    if (first === undefined || last === undefined || !this.#isAskedFor(batch)) {
      throw this.invalid('a batch of something else')
    }
    if (compareRefs(last, extent.from) < 0 || compareRefs(first, extent.to) > 0) {
      throw this.invalid('a batch outside of the selection')
    }
    const standing = this.#standingOf(batch, first)
    if (standing === 'repeated') {
      if (!isContinued) throw this.invalid('batches out of order, or twice')
      if (++this.#repeats > this.#limits.maxBatchesOfOnePlace) {
        throw this.invalid('the same batches again and again')
      }
      return standing
    }
    if (standing === 'ahead') this.#atReached.clear()
    if (this.#atReached.size >= this.#limits.maxBatchesOfOnePlace) {
      throw this.invalid('too many batches of one place')
    }
    this.#atReached.add(keyOf(batch))
    this.#reached = placeOf(first)
    for (const message of batch.messages) if (isWithin(message, extent)) this.#messages++
    return standing
  }

  invalid(complaint: string): RunnelError {
    return clientError('RESEND_INVALID_ANSWER', `${this.#nodeId}: ${complaint}`)
  }

  #standingOf(batch: MessageBatch, first: MessageRef): Standing {
    const ahead = this.#reached === undefined ? 1 : compareRefs(first, this.#reached)
    if (ahead > 0) return 'ahead'
    return ahead === 0 && !this.#atReached.has(keyOf(batch)) ? 'beside' : 'repeated'
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
}

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
