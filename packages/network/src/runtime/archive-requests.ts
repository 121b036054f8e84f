import type { Archive, Gap } from '../ports.ts'

export interface ArchiveRequestsModules {
  readonly archive: Archive | undefined
  /** Takes a batch; may be called at any time. */
  give(batchBytes: Uint8Array): void
  /** The archive has sent what it has, or failed. */
  ended(gap: Gap): void
  onError(error: unknown): void
}

/** Requests to the archive; stopped together with the node. */
export class ArchiveRequests {
  readonly #modules: ArchiveRequestsModules
  readonly #stopping = new AbortController()

  constructor(modules: ArchiveRequestsModules) {
    this.#modules = modules
  }

  fill(gap: Gap): void {
    const { archive, give, ended, onError } = this.#modules
    const { signal } = this.#stopping
    Promise.resolve()
      .then(() => archive?.fill(gap, (bytes) => void (signal.aborted || give(bytes)), signal))
      .catch(onError)
      .finally(() => ended(gap))
  }

  stop(): void {
    this.#stopping.abort()
  }
}
