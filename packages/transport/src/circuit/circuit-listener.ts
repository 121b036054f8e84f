import type { LinkRole } from '@runnel/protocol'
import { ConnectionPool, type PooledChannel } from '../connection/connection-pool.ts'
import type { ConnectionModules } from '../connection/modules.ts'
import type { Connection } from '../ports.ts'

/**
 * Accepts links over circuits: channels that another tracker carries to this one. The handshake is the ordinary one, end to
 * end, so whoever carries a circuit can neither read nor change anything.
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

  /** A peer is at the other end of this channel. The address it dialled is the carrier's, so it is not checked here. */
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
