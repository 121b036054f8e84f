import { storageError } from '../errors.ts'
import type { EncodedDelegations } from './stored-delegations.ts'

/** What is committed together. */
export interface Commit {
  readonly batches: readonly Uint8Array[]
  /** Those that the batches name. */
  readonly delegations: EncodedDelegations
}

interface Waiting extends Commit {
  readonly bytes: number
  resolve(): void
  reject(error: unknown): void
}

/** Bytes committed at once: bounds how long a commit takes, and the memory it costs. */
const maxCommitBytes = 8 * 1024 * 1024

/** What comes while a commit is under way goes into the next one together: a commit costs about the same for one batch or thousands. */
export class GroupCommit {
  readonly #maxWaitingBytes: number
  readonly #commit: (commit: Commit) => Promise<void>
  #waiting: Waiting[] = []
  #waitingBytes = 0
  #working: Promise<void> | undefined

  constructor(options: { readonly maxWaitingBytes: number }, commit: (commit: Commit) => Promise<void>) {
    this.#maxWaitingBytes = options.maxWaitingBytes
    this.#commit = commit
  }

  /** Resolves when the commit did that these batches were in. Throws STORE_OVERLOADED when too much waits. */
  add({ batches, delegations }: Commit): Promise<void> {
    const bytes = [...batches, ...delegations.values()].reduce((sum, { length }) => sum + length, 0)
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > this.#maxWaitingBytes) {
      return Promise.reject(
        storageError('STORE_OVERLOADED', `${this.#waitingBytes} bytes wait for their commit`),
      )
    }
    this.#waitingBytes += bytes
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batches, delegations, bytes, resolve, reject })
      this.#working ??= this.#work()
    })
  }

  /** Resolves when nothing waits. */
  async idle(): Promise<void> {
    await this.#working
  }

  async #work(): Promise<void> {
    // What is added in the same turn belongs to the first group.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const group = this.#takeGroup()
      try {
        await this.#commit({
          batches: group.flatMap(({ batches }) => batches),
          delegations: new Map(group.flatMap(({ delegations }) => [...delegations])),
        })
        for (const { resolve } of group) resolve()
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
      for (const { bytes } of group) this.#waitingBytes -= bytes
    }
    this.#working = undefined
  }

  #takeGroup(): Waiting[] {
    let bytes = 0
    const size = this.#waiting.findIndex((one, index) => (bytes += one.bytes) > maxCommitBytes && index > 0)
    return this.#waiting.splice(0, size < 0 ? this.#waiting.length : size)
  }
}
