import type { FloodMode } from '@runnel/protocol'

/** Batches in a row that must be announced early. */
const earlyBatches = 8
/** The most batches in a row that must be announced early. */
const maxEarlyBatches = 512
/** So much more of them each time that it did not keep what it promised. */
const distrustFactor = 4

/** What one neighbour does for a chain, and what it was asked for. */
export class Way {
  mode: FloodMode = 'eager'
  /** When that ends unless it is asked again. */
  untilMs = -Infinity
  /** Copies in a row that came when another neighbour had brought one. */
  late = 0
  /** So many of these, and it is asked for digests: more each time that it was needed all the same. */
  patience: number
  /** Copies that came although they were not asked for, since the last ask. */
  unasked = 0
  /** Number of the last batch that it brought first, and that it brought or announced. */
  firstAt = -Infinity
  saidAt = -Infinity
  /** Batches in a row that it announced long before a copy came. */
  #early = 0
  /** So many of these, and it is asked for copies. */
  #earlyBatches = earlyBatches
  #isPromising = false

  constructor(patience: number) {
    this.patience = patience
  }

  asked(mode: FloodMode, untilMs: number): void {
    Object.assign(this, { mode, untilMs, late: 0, unasked: 0 })
    this.#early = 0
  }

  /** It announced a batch, early or not. True when it promises to be a better way. */
  announced(isEarly: boolean): boolean {
    this.#early = isEarly ? this.#early + 1 : 0
    if (this.#early < this.#earlyBatches) return false
    this.#isPromising = true
    return true
  }

  /** It brought a batch first. */
  brought(batch: number): void {
    this.late = 0
    this.firstAt = this.saidAt = batch
    this.#earlyBatches = Math.max(earlyBatches, this.#earlyBatches - 1)
  }

  /** It was late too often. Who had announced more than it brings has to announce for longer the next time. */
  failed(): void {
    if (this.#isPromising) this.#earlyBatches = Math.min(maxEarlyBatches, distrustFactor * this.#earlyBatches)
    this.#isPromising = false
  }
}
