import { shownText } from '../format.ts'

/** A message ready for display. */
export interface ShownMessage {
  readonly key: number
  readonly publisherId: string
  /** When it was published, by its publisher's clock; Unix milliseconds. */
  readonly timestamp: number
  readonly text: string
  /** From the publisher's clock to this device's. */
  readonly delayMs: number
}

export interface ReceivedMessage {
  readonly publisherId: string
  readonly timestamp: number
  readonly content: unknown
}

/** Messages kept to be shown, and delays kept to be measured. */
export const liveLogLimits = {
  /** The newest are shown, the others only counted. */
  maxMessages: 200,
  /** Measured delays are of so many messages, the newest. */
  maxDelays: 1_000,
  /** Characters of one message. */
  maxMessageChars: 2_000,
  /** Bytes of a binary message that are shown. */
  maxShownBytes: 64,
} as const

/** What was received lately. */
export class LiveLog {
  #received = 0
  #messages: ShownMessage[] = []
  readonly #delaysMs: number[] = []

  get received(): number {
    return this.#received
  }

  /** The newest first. */
  get messages(): readonly ShownMessage[] {
    return this.#messages
  }

  /** From short to long. */
  delaysMs(): number[] {
    return this.#delaysMs.toSorted((a, b) => a - b)
  }

  add({ publisherId, timestamp, content }: ReceivedMessage, nowMs: number): void {
    const delayMs = Math.max(0, nowMs - timestamp)
    const key = ++this.#received
    const message = { key, publisherId, timestamp, delayMs, text: contentText(content) }
    this.#messages = [message, ...this.#messages.slice(0, liveLogLimits.maxMessages - 1)]
    this.#delaysMs.push(delayMs)
    if (this.#delaysMs.length > liveLogLimits.maxDelays) this.#delaysMs.shift()
  }
}

/** A content as text: bytes as hexadecimal digits, what is no text as JSON. */
export function contentText(content: unknown): string {
  const { maxMessageChars, maxShownBytes } = liveLogLimits
  if (typeof content === 'string') return shownText(content, maxMessageChars)
  if (!(content instanceof Uint8Array)) return shownText(JSON.stringify(content) ?? '', maxMessageChars)
  const digits = Array.from(content.subarray(0, maxShownBytes), (byte) => byte.toString(16).padStart(2, '0'))
  return `${content.length} bytes: ${digits.join(' ')}${content.length > maxShownBytes ? ' …' : ''}`
}

/** The typed text as it is published: as JSON if it parses, else as text. */
export function typedContent(typed: string): { readonly kind: 'JSON' | 'text'; readonly content: unknown } {
  try {
    return { kind: 'JSON', content: JSON.parse(typed) }
  } catch {
    return { kind: 'text', content: typed }
  }
}
