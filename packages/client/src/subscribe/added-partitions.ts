import type { Clock } from '@runnel/protocol'
import { pause } from '../deadline.ts'
import type { StreamInfo } from '../registry/ports.ts'

/** A registry that gave no answer is asked again after this. */
const retryMs = 5_000

export interface AddedPartitionsModules {
  readonly clock: Pick<Clock, 'schedule'>
  /** The stream as it is now; undefined where it is deleted. */
  readonly getStream: () => Promise<StreamInfo | undefined>
  readonly onAdded: (stream: StreamInfo, partitions: readonly number[]) => void
  /** Ends it. */
  readonly signal: AbortSignal
}

/** Finds out which partitions a stream gets. Those that it loses are not told: nobody publishes there any more. */
export class AddedPartitions {
  readonly #modules: AddedPartitionsModules
  #known: number
  #isDue = false
  #isLooking = false

  constructor(options: { readonly known: number }, modules: AddedPartitionsModules) {
    this.#known = options.known
    this.#modules = modules
  }

  /** The stream may have changed. */
  look(): void {
    this.#isDue = true
    if (!this.#isLooking) void this.#look()
  }

  async #look(): Promise<void> {
    const { clock, getStream, onAdded, signal } = this.#modules
    this.#isLooking = true
    while (this.#isDue && !signal.aborted) {
      this.#isDue = false
      const stream = await getStream().catch(() => 'no answer' as const)
      if (signal.aborted) return
      if (stream === 'no answer') {
        this.#isDue = true
        await pause(clock, retryMs, signal)
      } else if (stream !== undefined && stream.partitions > this.#known) {
        const added = Array.from({ length: stream.partitions - this.#known }, (_, i) => this.#known + i)
        this.#known = stream.partitions
        onAdded(stream, added)
      }
    }
    this.#isLooking = false
  }
}
