import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ParsedIceServer } from './ice-server.ts'
import { StunStream, toStream } from './stun-stream.ts'

const host = '127.0.0.1'
/** Peer connections that use a server by a stream at once: as many as there can be, and those that end. */
const maxTunnelLegs = 512
/** An ICE agent sends something every few seconds; one that was silent for so long is gone. */
const tunnelIdleMs = 120_000
/** What waits for a slow server; more is lost, as datagrams are. */
const maxTunnelQueueBytes = 1024 * 1024

/**
 * Lets an ICE agent that knows UDP alone reach a TURN server by TCP or TLS: a UDP socket on this machine that passes what it gets
 * to the server and back, over a stream for each local port. The agent makes its allocation as with any TURN server; the
 * credentials and the data, which DTLS seals, pass unchanged.
 */
export class TurnTunnel {
  readonly #server: Pick<ParsedIceServer, 'scheme' | 'hostname' | 'port'>
  readonly #legs = new Map<string, Leg>()
  #udp: UdpSocket | undefined

  constructor(server: Pick<ParsedIceServer, 'scheme' | 'hostname' | 'port'>) {
    this.#server = server
  }

  /** Where the agent is to look for its server. Rejects with an error of the system. */
  async start(): Promise<{ readonly hostname: string; readonly port: number }> {
    const udp = createSocket('udp4')
    this.#udp = udp
    udp.on('message', (datagram, from) => this.#outward(datagram, from.address, from.port))
    await new Promise<void>((resolve, reject) => {
      udp.once('error', reject)
      udp.bind(0, host, resolve)
    })
    // A datagram that cannot be delivered is lost, and nothing else.
    udp.on('error', () => {})
    udp.unref()
    return { hostname: host, port: udp.address().port }
  }

  /** Idempotent. */
  stop(): void {
    for (const leg of this.#legs.values()) leg.socket.destroy()
    this.#udp?.close()
    this.#udp = undefined
  }

  #outward(datagram: Buffer, address: string, port: number): void {
    const leg = this.#legs.get(`${address} ${port}`) ?? this.#connect(address, port)
    if (leg === undefined || leg.socket.writableLength > maxTunnelQueueBytes) return
    leg.socket.setTimeout(tunnelIdleMs)
    leg.socket.write(toStream(datagram))
  }

  #connect(address: string, port: number): Leg | undefined {
    if (this.#legs.size >= maxTunnelLegs) return undefined
    const { scheme, hostname, port: serverPort } = this.#server
    const where = { host: hostname, port: serverPort }
    const socket =
      scheme === 'turns'
        ? connectTls({ ...where, ...(isIP(hostname) === 0 ? { servername: hostname } : {}) })
        : connectTcp({ ...where, noDelay: true })
    const leg = { socket, stream: new StunStream() }
    this.#legs.set(`${address} ${port}`, leg)
    socket.unref()
    socket.on('data', (bytes: Buffer) => {
      for (const datagram of leg.stream.read(bytes)) this.#udp?.send(datagram, port, address)
    })
    socket.on('timeout', () => socket.destroy())
    // The agent asks again, and gives up when it has asked in vain.
    socket.on('error', () => {})
    socket.on('close', () => this.#legs.delete(`${address} ${port}`))
    return leg
  }
}

interface Leg {
  readonly socket: Socket
  readonly stream: StunStream
}
