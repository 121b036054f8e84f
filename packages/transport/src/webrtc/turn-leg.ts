import { createSocket } from 'node:dgram'
import { connect as connectTcp, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ParsedIceServer } from './ice-server.ts'
import { StunStream, toStream } from './stun-stream.ts'

/** An ICE agent sends something every few seconds; one silent for this long is gone. */
const idleMs = 120_000
/** Bytes waiting for a slow server; more is lost, as datagrams are. */
const maxQueueBytes = 1024 * 1024
/** Datagrams that wait while the name of a server is looked up. */
const maxEarly = 8

type TurnServerAddress = Pick<ParsedIceServer, 'scheme' | 'hostname' | 'port' | 'transport'>

export interface TurnLegOptions {
  readonly server: TurnServerAddress
  /** Of the interface to use; any when absent. */
  readonly localAddress?: string | undefined
}

export interface TurnLegEvents {
  onDatagram(datagram: Uint8Array): void
  /** It broke, or was silent for too long. The agent asks again, and gives up when it has asked in vain. */
  onClose(): void
}

/** The way of one port of an ICE agent to its TURN server. */
export interface TurnLeg {
  /** What has no room is lost. */
  send(datagram: Uint8Array): void
  /** Idempotent. */
  close(): void
}

/** By UDP, TCP or TLS, as the server is reached. */
export function openTurnLeg(options: TurnLegOptions, events: TurnLegEvents): TurnLeg {
  const isStream = options.server.scheme === 'turns' || options.server.transport === 'tcp'
  return isStream ? streamLeg(options, events) : datagramLeg(options, events)
}

function streamLeg({ server, localAddress }: TurnLegOptions, events: TurnLegEvents): TurnLeg {
  const { scheme, hostname, port } = server
  const where = { host: hostname, port, ...(localAddress === undefined ? {} : { localAddress }) }
  const socket =
    scheme === 'turns'
      ? connectTls({ ...where, ...(isIP(hostname) === 0 ? { servername: hostname } : {}) })
      : connectTcp({ ...where, noDelay: true })
  const stream = new StunStream()
  socket.unref()
  socket.on('data', (bytes: Buffer) => {
    for (const datagram of stream.read(bytes)) events.onDatagram(datagram)
  })
  socket.on('timeout', () => socket.destroy())
  socket.on('error', () => {})
  socket.on('close', () => events.onClose())
  return {
    send(datagram) {
      if (socket.writableLength > maxQueueBytes) return
      socket.setTimeout(idleMs)
      socket.write(toStream(datagram))
    },
    close: () => void socket.destroy(),
  }
}

function datagramLeg({ server, localAddress }: TurnLegOptions, events: TurnLegEvents): TurnLeg {
  const { hostname, port } = server
  const socket = createSocket(isIP(hostname) === 6 ? 'udp6' : 'udp4')
  let early: Uint8Array[] | undefined = []
  let isClosed = false
  const close = (): void => {
    if (isClosed) return
    isClosed = true
    clearTimeout(idle)
    socket.close()
  }
  const idle = setTimeout(close, idleMs).unref()
  socket.unref()
  socket.on('message', (datagram) => events.onDatagram(datagram))
  // A datagram that cannot be delivered is lost, and nothing else; a server that has no address ends the leg.
  socket.on('error', () => early !== undefined && close())
  socket.on('close', () => events.onClose())
  socket.bind(0, localAddress, () => {
    if (isClosed) return
    socket.connect(port, hostname, (error?: Error) => {
      if (error !== undefined || isClosed) return close()
      for (const datagram of early ?? []) socket.send(datagram)
      early = undefined
    })
  })
  return {
    send(datagram) {
      if (isClosed) return
      idle.refresh()
      if (early === undefined) socket.send(datagram)
      else if (early.length < maxEarly) early.push(datagram)
    },
    close,
  }
}
