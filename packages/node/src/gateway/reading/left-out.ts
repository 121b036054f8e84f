import type { UndecodableMessage } from '@runnel/client'
import { leftOutFields } from './left-out-fields.ts'

interface Counted {
  count: number
  last: UndecodableMessage
}

/** What an answer leaves out because it cannot be opened or decoded, by the code of the reason, of which there are few. */
export class LeftOut {
  readonly #byCode = new Map<string, Counted>()

  readonly add = (found: UndecodableMessage): void => {
    const { code } = found.error
    const known = this.#byCode.get(code)
    if (known === undefined) this.#byCode.set(code, { count: 1, last: found })
    else {
      known.count++
      known.last = found
    }
  }

  /** For each reason how many there are, the place of the last, and the problem. */
  fields(): readonly Readonly<Record<string, unknown>>[] {
    return [...this.#byCode.values()].map(({ last, count }) => leftOutFields(last, count))
  }
}
