import type { PreparedMessage, RunnelClient, UrgentOptions } from '@runnel/client'
import { controlContent } from '../catalogue/catalogue.ts'

/** Before all else, and again while it is of use where a link loses it. */
const urgent: UrgentOptions = { lifetimeMs: 2_000, priority: 0 }

export interface GoodbyePlace {
  readonly streamId: string
  readonly partition: number
  /** Which is over. */
  readonly session: string
}

/**
 * The goodbye of somebody who cannot wait: sealed and signed before, so that it leaves within one call. A page that is being closed does nothing
 * that takes another turn.
 */
export class Goodbye {
  readonly #place: GoodbyePlace
  readonly #client: Pick<RunnelClient, 'prepare'>
  #prepared: PreparedMessage | undefined

  constructor(place: GoodbyePlace, modules: { readonly client: Pick<RunnelClient, 'prepare'> }) {
    this.#place = place
    this.#client = modules.client
  }

  /** Called every few seconds: nodes take what is hundreds of frames old for known. Never rejects: whatever is published meets the same. */
  async prepare(): Promise<void> {
    const { streamId, partition, session } = this.#place
    const content = controlContent({ leave: true, session })
    const prepared = await this.#client
      .prepare(streamId, content, { partition, urgent })
      .catch(() => undefined)
    this.#prepared = prepared ?? this.#prepared
  }

  say(): void {
    this.#prepared?.send()
  }
}
