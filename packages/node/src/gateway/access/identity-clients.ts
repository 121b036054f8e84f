import type { RunnelClient } from '@runnel/client'
import type { Cancel, Clock } from '@runnel/protocol'
import { nodeError } from '../../errors.ts'
import type { GatewayLimits } from '../limits.ts'

/** In whose name a client acts: the files of the user; without `as` the broker's own user. */
export interface Identity {
  readonly as?: string | undefined
  readonly readingKey?: string | undefined
}

/** Names an identity; that of the broker's own user is empty. */
export function nameOf({ as, readingKey }: Identity): string {
  return as === undefined ? '' : JSON.stringify([as, readingKey])
}

/** A client in use; `release` gives it back, once. */
export interface AcquiredClient {
  readonly client: RunnelClient
  release(): void
}

interface Entry {
  readonly opened: Promise<RunnelClient>
  users: number
  closeLater: Cancel
}

export interface IdentityClientsModules {
  /** The broker's. */
  readonly client: RunnelClient
  readonly open: (identity: Identity & { readonly as: string }) => Promise<RunnelClient>
  readonly clock: Pick<Clock, 'schedule'>
}

/** A client for each identity that is served, opened when it is first used, and closed a while after it was last. */
export class IdentityClients {
  readonly #limits: Pick<GatewayLimits, 'maxIdentities' | 'idleClientMs'>
  readonly #modules: IdentityClientsModules
  readonly #entries = new Map<string, Entry>()

  constructor(
    limits: Pick<GatewayLimits, 'maxIdentities' | 'idleClientMs'>,
    modules: IdentityClientsModules,
  ) {
    this.#limits = limits
    this.#modules = modules
  }

  /** Clients that are open, beside the broker's. */
  get size(): number {
    return this.#entries.size
  }

  /** Throws GATEWAY_TOO_MANY_IDENTITIES, and what opening a client throws. */
  async acquire({ as, readingKey }: Identity): Promise<AcquiredClient> {
    if (as === undefined) return { client: this.#modules.client, release: () => {} }
    const name = nameOf({ as, readingKey })
    const entry = this.#entries.get(name) ?? this.#open(name, { as, readingKey })
    entry.users++
    entry.closeLater()
    let isReleased = false
    const release = () => {
      if (isReleased) return
      isReleased = true
      // One that is closed already is not closed later: the process would wait for that.
      if (--entry.users > 0 || this.#entries.get(name) !== entry) return
      const close = () => void this.#close(name)
      entry.closeLater = this.#modules.clock.schedule(this.#limits.idleClientMs, close)
    }
    try {
      return { client: await entry.opened, release }
    } catch (error) {
      if (this.#entries.get(name) === entry) this.#entries.delete(name)
      throw error
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#entries.keys()].map((name) => this.#close(name)))
  }

  #open(name: string, identity: Identity & { readonly as: string }): Entry {
    if (this.#entries.size >= this.#limits.maxIdentities) this.#closeIdle()
    const entry: Entry = { opened: this.#modules.open(identity), users: 0, closeLater: () => {} }
    this.#entries.set(name, entry)
    return entry
  }

  #closeIdle(): void {
    for (const [name, { users }] of this.#entries) if (users === 0) return void this.#close(name)
    throw nodeError('GATEWAY_TOO_MANY_IDENTITIES', `${this.#limits.maxIdentities}`)
  }

  /** Never rejects: one that could not be opened has nothing to close. */
  async #close(name: string): Promise<void> {
    const entry = this.#entries.get(name)
    if (entry === undefined) return
    this.#entries.delete(name)
    entry.closeLater()
    await entry.opened.then(
      (client) => client.close(),
      () => {},
    )
  }
}
