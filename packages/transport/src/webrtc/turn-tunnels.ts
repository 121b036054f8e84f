import type { IceServer } from '@runnel/protocol'
import { parseIceServer } from './ice-server.ts'
import { TurnTunnel } from './turn-tunnel.ts'

/** The tunnels to the TURN servers that are reached by TCP or TLS, one for each. */
export class TurnTunnels {
  readonly #tunnels = new Map<string, { readonly tunnel: TurnTunnel; readonly where: Promise<string> }>()

  /** The same servers, those reached by TCP or TLS as where their tunnels are. One whose tunnel cannot be made is left out. */
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
    if (parsed.scheme === 'stun' || (parsed.scheme === 'turn' && parsed.transport === 'udp')) return server
    const known = this.#tunnels.get(server.url) ?? this.#start(server.url, new TurnTunnel(parsed))
    return known.where.then(
      (url) => ({ ...server, url }),
      () => undefined,
    )
  }

  #start(url: string, tunnel: TurnTunnel) {
    const where = tunnel.start().then(({ hostname, port }) => `turn:${hostname}:${port}`)
    where.catch(() => {})
    const started = { tunnel, where }
    this.#tunnels.set(url, started)
    return started
  }
}
