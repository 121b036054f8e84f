import { isRunnelError } from '@runnel/protocol'
import type { Stamp } from '../core/stamp.ts'
import { sumOf } from '../core/sum-of.ts'
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
  /** Handed over, and neither published yet nor refused; by stream part. */
  readonly #pending: number[]
  #measureFromMs = Infinity
  #measureEndMs = Infinity
  #inWindow = 0
  #sampled = { published: 0, received: 0 }

  constructor(parts: number) {
    this.#published = Array.from({ length: parts }, () => 0)
    this.#unsent = Array.from({ length: parts }, () => 0)
    this.#pending = Array.from({ length: parts }, () => 0)
  }

  /** Delays of what was sent before do not count, neither of messages nor of sending; nor does for the rate what arrives outside of this time. */
  measureFrom(fromMs: number, endMs: number): void {
    this.#measureFromMs = fromMs
    this.#measureEndMs = endMs
  }

  joined(ms: number): void {
    this.#joins.add(ms)
  }

  /** A message is handed over: it counts as published, and is pending until `sent` or `unsent`. */
  published(part: number, intendedMs: number, nowMs: number): void {
    add(this.#published, part, 1)
    add(this.#pending, part, 1)
    if (intendedMs >= this.#measureFromMs) this.#lateness.add(nowMs - intendedMs)
  }

  sent(part: number): void {
    add(this.#pending, part, -1)
  }

  /** A message that was counted as published could not be. */
  unsent(part: number, error: unknown): void {
    add(this.#pending, part, -1)
    add(this.#unsent, part, 1)
    this.failed(error)
  }

  received(reader: number, stamp: Stamp, nowMs: number): void {
    if (!this.#ledger.take(reader, stamp)) return
    if (nowMs >= this.#measureFromMs && nowMs < this.#measureEndMs) this.#inWindow++
    if (stamp.intendedMs >= this.#measureFromMs) this.delayed(nowMs - stamp.intendedMs)
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
    const published = sumOf(this.#published)
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
      // What is still pending when the run is over was not sent.
      unsent: this.#unsent.map((number, part) => number + (this.#pending[part] ?? 0)),
      pending: sumOf(this.#pending),
      latenessP99Ms: this.#lateness.count < minForP99 ? undefined : this.#lateness.percentileMs(99),
      delays: this.#delays.encode(),
      inWindow: this.#inWindow,
      joins: this.#joins.encode(),
      lateness: this.#lateness.encode(),
      errors: Object.fromEntries(this.#errors),
    }
  }
}

function add(numbers: number[], index: number, more: number): void {
  numbers[index] = (numbers[index] ?? 0) + more
}

/** An error on one line, its first, with its code if it has one. */
export function errorText(error: unknown): string {
  const [text = ''] = (error instanceof Error ? error.message : String(error)).split(/\r?\n/, 1)
  return isRunnelError(error) ? `${error.code}: ${text}` : text
}
