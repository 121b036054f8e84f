/** What this process takes of the machine, from when it began to be watched. */
export class OwnCost {
  #cpu = process.cpuUsage()
  #startMs = performance.now()
  #maxRssBytes = process.memoryUsage.rss()

  /** Begins anew. */
  restart(): void {
    this.#cpu = process.cpuUsage()
    this.#startMs = performance.now()
  }

  /** CPU time of all threads of this process, as a share of one core. */
  get cpuShare(): number {
    const { user, system } = process.cpuUsage(this.#cpu)
    return (user + system) / 1000 / Math.max(1, performance.now() - this.#startMs)
  }

  /** The most memory seen whenever this was asked. */
  get rssBytes(): number {
    this.#maxRssBytes = Math.max(this.#maxRssBytes, process.memoryUsage.rss())
    return this.#maxRssBytes
  }
}
