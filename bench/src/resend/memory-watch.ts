/** How often memory is looked at. */
const sampleEveryMs = 10

/** Bytes above what an idle process had, at their highest. */
export interface MemoryGrowth {
  readonly rss: number
  /** The heap, and external memory that it owns. */
  readonly heap: number
}

/** Watches how much memory this process takes; it needs `--expose-gc`. */
export class MemoryWatch {
  #idle = this.#now()
  #peak = this.#now()
  #timer: NodeJS.Timeout | undefined

  begin(): void {
    globalThis.gc?.()
    this.#idle = this.#peak = this.#now()
    this.#timer = setInterval(() => this.#look(), sampleEveryMs)
  }

  end(): MemoryGrowth {
    clearInterval(this.#timer)
    this.#look()
    return { rss: this.#peak.rss - this.#idle.rss, heap: this.#peak.heap - this.#idle.heap }
  }

  #look(): void {
    const { rss, heap } = this.#now()
    this.#peak = { rss: Math.max(rss, this.#peak.rss), heap: Math.max(heap, this.#peak.heap) }
  }

  #now(): MemoryGrowth {
    const { rss, heapUsed, external } = process.memoryUsage()
    return { rss, heap: heapUsed + external }
  }
}
