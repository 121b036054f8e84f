import { shownText } from '../format.ts'

/** Where a message is in its stream part, and the key that it is encrypted with. */
export interface MessagePlace {
  readonly publisherId: string
  readonly messageChainId: string
  /** When it was published, by its publisher's clock; Unix milliseconds. */
  readonly timestamp: number
  readonly sequenceNumber: number
  /** Undefined in the clear. */
  readonly keyId: string | undefined
}

/** A message ready for display. */
export interface ShownMessage extends MessagePlace {
  /** What no other message has. */
  readonly id: string
  /** Undefined while nothing has opened it. */
  readonly text: string | undefined
  /** Why nothing opens it, as a sentence. */
  readonly trouble: string | undefined
  /** From the publisher's clock to this device's; undefined for a stored message. */
  readonly delayMs: number | undefined
}

/** Messages kept to be shown, and delays kept to be measured. */
export const liveLogLimits = {
  /** Messages shown, the newest; the others are only counted. */
  maxMessages: 200,
  /** Messages, the newest, whose delays are measured. */
  maxDelays: 1_000,
  /** Time over which the message rate is measured. */
  rateOverMs: 10_000,
  /** Arrivals kept for the rate. */
  maxArrivals: 5_000,
  /** Characters of one message. */
  maxMessageChars: 2_000,
  /** Bytes of a binary message that are shown. */
  maxShownBytes: 64,
} as const

/** What was received lately, and what was read from storage. What is told of a message comes in any order. */
export class LiveLog {
  #received = 0
  #messages: ShownMessage[] = []
  readonly #delaysMs: number[] = []
  readonly #arrivals: number[] = []

  /** Without those from storage. */
  get received(): number {
    return this.#received
  }

  /** The newest first. */
  get messages(): readonly ShownMessage[] {
    return this.#messages
  }

  /** Messages per second, lately. With so many that arrivals are forgotten, over the time since the oldest known. */
  ratePerSecond(nowMs: number): number {
    const { rateOverMs, maxArrivals } = liveLogLimits
    const recent = this.#arrivals.filter((atMs) => atMs > nowMs - rateOverMs)
    const [oldest = nowMs] = recent
    const overMs = recent.length < maxArrivals ? rateOverMs : Math.max(1, nowMs - oldest)
    return (1_000 * recent.length) / overMs
  }

  /** From short to long. */
  delaysMs(): number[] {
    return this.#delaysMs.toSorted((a, b) => a - b)
  }

  /** A live message came; what it says may be known later. The delay of one's own is none of the network's. */
  came(place: MessagePlace, nowMs: number, isOwn: boolean): void {
    const delayMs = Math.max(0, nowMs - place.timestamp)
    this.#received++
    if (!isOwn) this.#delaysMs.push(delayMs)
    if (this.#delaysMs.length > liveLogLimits.maxDelays) this.#delaysMs.shift()
    this.#arrivals.push(nowMs)
    if (this.#arrivals.length > liveLogLimits.maxArrivals) this.#arrivals.shift()
    this.#put(place, { delayMs })
  }

  /** A message was read from storage; what it says may be known later. */
  stored(place: MessagePlace): void {
    this.#put(place, {})
  }

  /** What a message says. */
  opened(place: MessagePlace, content: unknown): void {
    this.#put(place, { text: contentText(content) })
  }

  /** Why it is not known what a message says, as a sentence. */
  unread(place: MessagePlace, trouble: string): void {
    this.#put(place, { trouble })
  }

  #put(place: MessagePlace, known: Partial<ShownMessage>): void {
    const id = idOf(place)
    const before = this.#messages.find((message) => message.id === id)
    const { publisherId, messageChainId, timestamp, sequenceNumber, keyId } = place
    const message = {
      ...{ id, publisherId, messageChainId, timestamp, sequenceNumber, keyId },
      ...{ text: before?.text, trouble: before?.trouble, delayMs: before?.delayMs },
      ...known,
    }
    this.#messages = [message, ...this.#messages.filter((other) => other !== before)]
      .sort((a, b) => b.timestamp - a.timestamp || b.sequenceNumber - a.sequenceNumber)
      .slice(0, liveLogLimits.maxMessages)
  }
}

function idOf({ publisherId, messageChainId, timestamp, sequenceNumber }: MessagePlace): string {
  return `${publisherId} ${messageChainId} ${timestamp} ${sequenceNumber}`
}

/** The messages that say or are from what somebody looks for; all of them for nothing. */
export function matching(messages: readonly ShownMessage[], filter: string): readonly ShownMessage[] {
  const wanted = filter.trim().toLowerCase()
  if (wanted === '') return messages
  return messages.filter(
    ({ text, publisherId }) => publisherId.includes(wanted) || text?.toLowerCase().includes(wanted),
  )
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
