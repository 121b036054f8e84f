import type { MessageGap, UndecodableMessage } from '@runnel/client'
import { leftOutFields } from './left-out-fields.ts'

interface Counted {
  count: number
  last: UndecodableMessage
}

/**
 * What an answer lacks: messages that cannot be opened or decoded, by the code of the reason, of which there are few, and gaps, which no storage
 * node could fill.
 */
export class LeftOut {
  readonly #byCode = new Map<string, Counted>()
  #gaps = 0
  #lastGap: MessageGap | undefined

  readonly add = (found: UndecodableMessage): void => {
    const { code } = found.error
    const known = this.#byCode.get(code)
    if (known === undefined) this.#byCode.set(code, { count: 1, last: found })
    else {
      known.count++
      known.last = found
    }
  }

  readonly addGap = (gap: MessageGap): void => {
    this.#gaps++
    this.#lastGap = gap
  }

  /** For each reason how many there are, the place of the last, and the problem; then how many gaps there are, and the last. */
  fields(): readonly Readonly<Record<string, unknown>>[] {
    const undecodable = [...this.#byCode.values()].map(({ last, count }) => ({
      undecodable: leftOutFields(last, count),
    }))
    if (this.#lastGap === undefined) return undecodable
    return [...undecodable, { gaps: { count: this.#gaps, last: this.#lastGap } }]
  }
}
