import type { LinkRole } from '@runnel/protocol'
import { ConnectionPool, type PooledChannel } from '../connection/connection-pool.ts'
import type { ConnectionModules } from '../connection/modules.ts'
import type { Connection } from '../ports.ts'

/**
 * Links that come in over channels which somebody else carries here: circuits. The handshake is the ordinary one, from end to
 * end, so whoever carries them can neither read nor change anything.
 */
export class CircuitListener {
  /** Links opened by others. Set by the owner before the first `accept`. */
  onInbound: (connection: Connection) => void = () => {}
  readonly #pool: ConnectionPool<PooledChannel>

  constructor(options: { readonly role: LinkRole }, modules: ConnectionModules) {
    this.#pool = new ConnectionPool({ ...options, dialTimeoutMs: 0 }, modules)
  }

  /** Open links and handshakes. */
  get size(): number {
    return this.#pool.size
  }

  /** A peer is at the other end of this channel. Whom it dialled is the address of who carries it, which says nothing here. */
  accept(channel: PooledChannel): void {
    this.#pool.accept(channel, {
      onOpen: (connection) => this.onInbound(connection),
      onFail: () => {},
    })
  }

  /** Ends every link with SHUTTING_DOWN. */
  async stop(): Promise<void> {
    await this.#pool.stop()
  }
}
