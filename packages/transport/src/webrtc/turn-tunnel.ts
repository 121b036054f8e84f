import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import type { Cancel, Clock } from '@runnel/protocol'
import { repeatingChecks } from './check-repeats.ts'
import { openTurnLeg, type TurnLeg, type TurnLegEvents, type TurnLegOptions } from './turn-leg.ts'

/** Where the ICE agent finds its server: on this machine. */
export const tunnelHost = '127.0.0.1'
/** Peer connections that use a server at once: as many as there can be, plus those that are ending. */
const maxTunnelLegs = 512

export interface TurnTunnelOptions extends TurnLegOptions {
  /** Whether the agent's checks are repeated, as where it may use relays only. */
  readonly repeatsChecks: boolean
  readonly clock: Pick<Clock, 'schedule'>
}

/**
 * Lets an ICE agent that knows UDP alone reach a TURN server by TCP or TLS, and one that must not show its address reach a TURN server
 * without a socket of its own towards the network: a UDP socket on this machine that passes what it gets to the server and back, over a
 * leg for each local port. The agent makes its allocation as with any TURN server; the credentials and the data, which DTLS seals, pass
 * unchanged.
 */
export class TurnTunnel {
  readonly #options: TurnTunnelOptions
  readonly #legs = new Map<string, TurnLeg>()
  #udp: UdpSocket | undefined

  constructor(options: TurnTunnelOptions) {
    this.#options = options
  }

  /** Where the agent is to look for its server. Rejects with an error of the system, or when it is stopped meanwhile. */
  async start(): Promise<{ readonly hostname: string; readonly port: number }> {
    const udp = createSocket('udp4')
    this.#udp = udp
    udp.on('message', (datagram, from) => this.#outward(datagram, from.address, from.port))
    await new Promise<void>((resolve, reject) => {
      udp.once('error', reject)
      udp.once('close', () => reject(new Error('stopped')))
      udp.bind(0, tunnelHost, resolve)
    })
    // A datagram that cannot be delivered is lost, and nothing else.
    udp.on('error', () => {})
    udp.unref()
    return { hostname: tunnelHost, port: udp.address().port }
  }

  /** Whether a peer connection uses it. */
  get isUsed(): boolean {
    return this.#legs.size > 0
  }

  /** Idempotent. */
  stop(): void {
    for (const leg of [...this.#legs.values()]) leg.close()
    this.#udp?.close()
    this.#udp = undefined
  }

  #outward(datagram: Buffer, address: string, port: number): void {
    const leg = this.#legs.get(`${address} ${port}`) ?? this.#open(address, port)
    leg?.send(datagram)
  }

  #open(address: string, port: number): TurnLeg | undefined {
    if (this.#legs.size >= maxTunnelLegs) return undefined
    const events: TurnLegEvents = {
      onDatagram: (datagram) => this.#udp?.send(datagram, port, address),
      onClose: () => this.#legs.delete(`${address} ${port}`),
    }
    const { repeatsChecks, clock } = this.#options
    const open = (own: TurnLegEvents): TurnLeg => openTurnLeg(this.#options, own)
    const schedule = (ms: number, action: () => void): Cancel => clock.schedule(ms, action)
    const leg = repeatsChecks ? repeatingChecks({ open, schedule }, events) : open(events)
    this.#legs.set(`${address} ${port}`, leg)
    return leg
  }
}
