import type { Clock, IceServer } from '@runnel/protocol'
import { parseIceServer } from './ice-server.ts'
import { TurnTunnel } from './turn-tunnel.ts'

export interface TurnTunnelsOptions {
  /** Also to servers that are reached by UDP, as the agent must not show its address to anybody else. STUN servers are left out. */
  readonly always: boolean
  /** Of the interface to use; any when absent. */
  readonly localAddress?: string | undefined
  readonly clock: Pick<Clock, 'schedule'>
}

/** Tunnels at once, each a socket of this machine: trackers name servers, and others every few minutes. */
const maxTunnels = 32

interface Started {
  readonly tunnel: TurnTunnel
  readonly where: Promise<string>
}

/** The tunnels to the TURN servers that are reached by TCP or TLS, or to all, one for each. */
export class TurnTunnels {
  readonly always: boolean
  readonly #localAddress: string | undefined
  readonly #clock: TurnTunnelsOptions['clock']
  /** The one named longest ago first. */
  readonly #tunnels = new Map<string, Started>()

  constructor({ always, localAddress, clock }: TurnTunnelsOptions) {
    this.always = always
    this.#clock = clock
    this.#localAddress = localAddress
  }

  /** The same servers, those that have a tunnel as where that is. One whose tunnel cannot be made is left out. */
  async servers(servers: readonly IceServer[]): Promise<readonly IceServer[]> {
    const reached = await Promise.all(servers.map((server) => this.#reached(server)))
    return reached.filter((server) => server !== undefined)
  }

  /** Idempotent. */
  stop(): void {
    for (const { tunnel } of this.#tunnels.values()) tunnel.stop()
    this.#tunnels.clear()
  }

  async #reached(server: IceServer): Promise<IceServer | undefined> {
    const parsed = parseIceServer(server)
    const isUdp = parsed.scheme === 'stun' || (parsed.scheme === 'turn' && parsed.transport === 'udp')
    if (isUdp && !this.always) return server
    if (parsed.scheme === 'stun') return undefined
    const common = { localAddress: this.#localAddress, repeatsChecks: this.always, clock: this.#clock }
    const known = this.#tunnels.get(server.url) ?? this.#start(new TurnTunnel({ server: parsed, ...common }))
    if (known === undefined) return undefined
    this.#tunnels.delete(server.url)
    this.#tunnels.set(server.url, known)
    return known.where.then(
      (url) => ({ ...server, url }),
      () => undefined,
    )
  }

  /** Undefined when all that may be are in use. */
  #start(tunnel: TurnTunnel): Started | undefined {
    if (this.#tunnels.size >= maxTunnels && !this.#stopUnused()) return undefined
    const where = tunnel.start().then(({ hostname, port }) => `turn:${hostname}:${port}`)
    where.catch(() => {})
    return { tunnel, where }
  }

  /** Of those that nothing goes through, the one named longest ago. */
  #stopUnused(): boolean {
    for (const [url, { tunnel }] of this.#tunnels) {
      if (tunnel.isUsed) continue
      tunnel.stop()
      return this.#tunnels.delete(url)
    }
    return false
  }
}
