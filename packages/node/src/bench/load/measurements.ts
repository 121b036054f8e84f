import { isRunnelError } from '@runnel/protocol'
import type { Stamp } from '../core/stamp.ts'
import type { LoadSample } from './generator.ts'
import { DelayHistogram } from './histogram.ts'
import { Ledger } from './ledger.ts'

/** Different errors that are told apart. */
const maxErrors = 20

/** With fewer, the 99th percentile is the largest, which says little. */
const minForP99 = 100

/** What the users of one process measure. */
export class Measurements {
  readonly #ledger = new Ledger()
  readonly #delays = new DelayHistogram()
  /** Since the sample before. */
  readonly #recent = new DelayHistogram()
  readonly #joins = new DelayHistogram()
  readonly #lateness = new DelayHistogram()
  readonly #errors = new Map<string, number>()
  readonly #published: number[]
  readonly #unsent: number[]
  #measureFromMs = Infinity
  #sampled = { published: 0, received: 0 }

  constructor(parts: number) {
    this.#published = Array.from({ length: parts }, () => 0)
    this.#unsent = Array.from({ length: parts }, () => 0)
  }

  /** Delays of what was sent before do not count, neither of messages nor of sending. */
  measureFrom(ms: number): void {
    this.#measureFromMs = ms
  }

  joined(ms: number): void {
    this.#joins.add(ms)
  }

  published(part: number, intendedMs: number, nowMs: number): void {
    this.#published[part] = (this.#published[part] ?? 0) + 1
    if (intendedMs >= this.#measureFromMs) this.#lateness.add(nowMs - intendedMs)
  }

  /** A message that was counted as published could not be. */
  unsent(part: number, error: unknown): void {
    this.#unsent[part] = (this.#unsent[part] ?? 0) + 1
    this.failed(error)
  }

  received(reader: number, stamp: Stamp, nowMs: number): void {
    if (this.#ledger.take(reader, stamp) && stamp.intendedMs >= this.#measureFromMs)
      this.delayed(nowMs - stamp.intendedMs)
  }

  delayed(ms: number): void {
    this.#delays.add(ms)
    this.#recent.add(ms)
  }

  failed(error: unknown): void {
    const text = errorText(error)
    if (this.#errors.size < maxErrors || this.#errors.has(text))
      this.#errors.set(text, (this.#errors.get(text) ?? 0) + 1)
  }

  /** Since the sample before. */
  sample(): Omit<LoadSample, 'cpuShare'> {
    const published = this.#published.reduce((sum, number) => sum + number, 0)
    const { received } = this.#ledger.counts
    const sample = {
      published: published - this.#sampled.published,
      received: received - this.#sampled.received,
      delays: this.#recent.encode(),
    }
    this.#recent.reset()
    this.#sampled = { published, received }
    return sample
  }

  result() {
    return {
      ...this.#ledger.counts,
      missing: this.#ledger.missing,
      first: this.#ledger.first,
      published: [...this.#published],
      unsent: [...this.#unsent],
      latenessP99Ms: this.#lateness.count < minForP99 ? undefined : this.#lateness.percentileMs(99),
      delays: this.#delays.encode(),
      joins: this.#joins.encode(),
      lateness: this.#lateness.encode(),
      errors: Object.fromEntries(this.#errors),
    }
  }
}

/** An error on one line, with its code if it has one. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return isRunnelError(error) ? `${error.code}: ${text}` : text
}
