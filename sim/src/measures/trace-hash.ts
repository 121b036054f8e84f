import { createHash } from 'node:crypto'

/** A fingerprint of all that was delivered, where and when: equal for equal runs. */
export class TraceHash {
  readonly #hash = createHash('sha256')

  add(atMs: number, ...what: readonly (string | number)[]): void {
    this.#hash.update(`${atMs} ${what.join(' ')}\n`)
  }

  /** Nothing may be added afterwards. */
  digest(): string {
    return this.#hash.digest('hex').slice(0, 16)
  }
}
