import { isRunnelError, type MessageChain, type MessageDraft, type StreamMessage } from '@runnel/protocol'
import { clientError, reasonOf } from '../errors.ts'
import type { ContentStep, MessageContent, OpenContext } from './content-step.ts'

/** The content steps of a client: messages pass them in order when they are sealed, and backwards when they are opened. */
export class ContentSteps {
  readonly #steps: readonly ContentStep[]
  readonly #context: OpenContext

  /** `signal` is aborted when the client closes. */
  constructor(steps: readonly ContentStep[], signal: AbortSignal) {
    this.#steps = steps
    this.#context = { signal }
  }

  /** The messages of a batch as they travel; a promise only where a step needs time. Throws or rejects with CONTENT_NOT_SEALED, or the step's own RunnelError. */
  seal(
    messages: readonly MessageDraft[],
    chain: MessageChain,
  ): readonly MessageDraft[] | Promise<readonly MessageDraft[]> {
    return this.#sealFrom(0, messages, chain)
  }

  /**
   * Opens a sealed message; returns a promise only if a step needs time. Throws or rejects with CONTENT_UNREADABLE, or the step's
   * own RunnelError.
   */
  open(message: StreamMessage): StreamMessage | Promise<StreamMessage> {
    return this.#openFrom(this.#steps.length - 1, message)
  }

  #sealFrom(
    first: number,
    messages: readonly MessageDraft[],
    chain: MessageChain,
  ): readonly MessageDraft[] | Promise<readonly MessageDraft[]> {
    let drafts = messages
    for (let i = first; i < this.#steps.length; i++) {
      const step = this.#steps[i] as ContentStep
      let contents
      try {
        contents = step.seal(drafts, { chain, ...this.#context })
      } catch (error) {
        throw stepError('CONTENT_NOT_SEALED', step, error)
      }
      if (contents instanceof Promise) return this.#sealAfter(contents, drafts, i, chain)
      drafts = withContents(drafts, contents, step)
    }
    return drafts
  }

  async #sealAfter(
    contents: Promise<readonly MessageContent[]>,
    messages: readonly MessageDraft[],
    at: number,
    chain: MessageChain,
  ): Promise<readonly MessageDraft[]> {
    const step = this.#steps[at] as ContentStep
    let sealed
    try {
      sealed = await contents
    } catch (error) {
      throw stepError('CONTENT_NOT_SEALED', step, error)
    }
    return this.#sealFrom(at + 1, withContents(messages, sealed, step), chain)
  }

  #openFrom(last: number, message: StreamMessage): StreamMessage | Promise<StreamMessage> {
    let opened = message
    for (let i = last; i >= 0; i--) {
      const step = this.#steps[i]
      if (step?.isSealed(opened) !== true) continue
      let content
      try {
        content = step.open(opened, this.#context)
      } catch (error) {
        throw stepError('CONTENT_UNREADABLE', step, error)
      }
      if (content instanceof Promise) return this.#openAfter(content, opened, step, i - 1)
      opened = openedWith(opened, content)
    }
    return opened
  }

  async #openAfter(
    content: Promise<MessageContent>,
    message: StreamMessage,
    step: ContentStep,
    before: number,
  ): Promise<StreamMessage> {
    let opened
    try {
      opened = await content
    } catch (error) {
      throw stepError('CONTENT_UNREADABLE', step, error)
    }
    return this.#openFrom(before, openedWith(message, opened))
  }
}

function withContents(
  messages: readonly MessageDraft[],
  contents: readonly MessageContent[],
  { name }: ContentStep,
): readonly MessageDraft[] {
  if (contents === messages) return messages
  if (contents.length !== messages.length) {
    const counts = `${contents.length} contents for ${messages.length} messages`
    throw clientError('CONTENT_NOT_SEALED', `${name}: ${counts}`)
  }
  if (areAtPlacesOf(messages, contents)) return contents
  return messages.map((message, i) => sealedWith(message, contents[i] ?? message))
}

// Only what a step may change comes from it. Each name is written out, as spreading takes three times as long; and a step may give the
// whole message back, which needs no copy.

function sealedWith(message: MessageDraft, sealed: MessageContent): MessageDraft {
  if (isAtPlaceOf(message, sealed)) return sealed
  const { timestamp, sequenceNumber, previous } = message
  const { contentType, encryptionType, groupKeyId, extensions, content } = sealed
  return {
    timestamp,
    sequenceNumber,
    previous,
    contentType,
    encryptionType,
    groupKeyId,
    extensions,
    content,
  }
}

function openedWith(message: StreamMessage, opened: MessageContent): StreamMessage {
  if (isAtPlaceOf(message, opened) && isOfChainOf(message, opened)) return opened
  const { streamId, partition, publisherId, messageChainId, timestamp, sequenceNumber, previous, batch } =
    message
  const { contentType, encryptionType, groupKeyId, extensions, content } = opened
  return {
    streamId,
    partition,
    publisherId,
    messageChainId,
    timestamp,
    sequenceNumber,
    previous,
    contentType,
    encryptionType,
    groupKeyId,
    extensions,
    content,
    batch,
  }
}

function areAtPlacesOf(
  messages: readonly MessageDraft[],
  contents: readonly MessageContent[],
): contents is readonly MessageDraft[] {
  for (let i = 0; i < messages.length; i++)
    if (!isAtPlaceOf(messages[i] as MessageDraft, contents[i] as MessageContent)) return false
  return true
}

function isAtPlaceOf(
  { timestamp, sequenceNumber, previous }: MessageDraft,
  one: MessageContent & Partial<MessageDraft>,
): one is MessageDraft {
  return one.timestamp === timestamp && one.sequenceNumber === sequenceNumber && one.previous === previous
}

function isOfChainOf(
  { streamId, partition, publisherId, messageChainId, batch }: StreamMessage,
  one: MessageDraft & Partial<StreamMessage>,
): one is StreamMessage {
  return (
    one.messageChainId === messageChainId &&
    one.publisherId === publisherId &&
    one.partition === partition &&
    one.streamId === streamId &&
    one.batch === batch
  )
}

/** A step that has a code of its own for it keeps it. */
function stepError(code: 'CONTENT_NOT_SEALED' | 'CONTENT_UNREADABLE', { name }: ContentStep, cause: unknown) {
  if (isRunnelError(cause)) return cause
  return clientError(code, `${name}: ${reasonOf(cause)}`, { cause })
}
