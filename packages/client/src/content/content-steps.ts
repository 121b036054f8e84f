import { isRunnelError, type MessageChain, type MessageDraft, type StreamMessage } from '@runnel/protocol'
import { clientError, reasonOf } from '../errors.ts'
import type { ContentStep, MessageContent } from './content-step.ts'

/** The content steps of a client: messages pass them in order when they are sealed, and backwards when they are opened. */
export class ContentSteps {
  readonly #steps: readonly ContentStep[]
  readonly #signal: AbortSignal

  /** `signal` is aborted when the client closes. */
  constructor(steps: readonly ContentStep[], signal: AbortSignal) {
    this.#steps = steps
    this.#signal = signal
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
    for (const [i, step] of this.#steps.entries()) {
      if (i < first) continue
      const failed = (error: unknown) => stepError('CONTENT_NOT_SEALED', step, error)
      let contents
      try {
        contents = step.seal(drafts, { chain, signal: this.#signal })
      } catch (error) {
        throw failed(error)
      }
      if (contents instanceof Promise) {
        const before = drafts
        return contents.then(
          (sealed) => this.#sealFrom(i + 1, withContents(before, sealed, step), chain),
          (error: unknown) => {
            throw failed(error)
          },
        )
      }
      drafts = withContents(drafts, contents, step)
    }
    return drafts
  }

  #openFrom(last: number, message: StreamMessage): StreamMessage | Promise<StreamMessage> {
    let opened = message
    for (let i = last; i >= 0; i--) {
      const step = this.#steps[i]
      if (step?.isSealed(opened) !== true) continue
      const failed = (error: unknown) => stepError('CONTENT_UNREADABLE', step, error)
      let content
      try {
        content = step.open(opened, { signal: this.#signal })
      } catch (error) {
        throw failed(error)
      }
      if (content instanceof Promise) {
        const before = opened
        return content.then(
          (then) => this.#openFrom(i - 1, withContent(before, then)),
          (error: unknown) => {
            throw failed(error)
          },
        )
      }
      opened = withContent(opened, content)
    }
    return opened
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
  return messages.map((message, i) => withContent(message, contents[i] ?? message))
}

/** Only what a step may change. */
function withContent<T extends MessageDraft>(message: T, content: MessageContent): T {
  const { contentType, encryptionType, groupKeyId, extensions, content: bytes } = content
  return { ...message, contentType, encryptionType, groupKeyId, extensions, content: bytes }
}

/** A step that has a code of its own for it keeps it. */
function stepError(code: 'CONTENT_NOT_SEALED' | 'CONTENT_UNREADABLE', { name }: ContentStep, cause: unknown) {
  if (isRunnelError(cause)) return cause
  return clientError(code, `${name}: ${reasonOf(cause)}`, { cause })
}
