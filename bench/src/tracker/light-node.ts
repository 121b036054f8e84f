import {
  createIdentity,
  decodePacket,
  encodePacket,
  generatePrivateKey,
  type Contact,
  type Crypto,
  type Instruction,
  type NodeId,
  type Packet,
  type StreamPartId,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { networkLimits } from '@runnel/network'
import { WebSocketTransport, type Connection } from '@runnel/transport'
import { benchError } from '../errors.ts'

const contact: Contact = { addresses: [{ kind: 'webrtc', text: '' }], dials: ['webrtc'] }

/** A node that speaks the protocol of trackers and opens no links: it says that it has whatever neighbours it is told. */
export class LightNode {
  readonly #transport: WebSocketTransport
  readonly #counters = new Map<StreamPartId, number>()
  readonly #joining = new Map<StreamPartId, PromiseWithResolvers<void>>()
  #connection: Connection | undefined
  readonly #closing = Promise.withResolvers<void>()
  /** Why the tracker closed the connection; undefined while it has not. */
  closed: string | undefined

  /** Dials from `localAddress`; default: as the system chooses. */
  constructor(crypto: Crypto, { localAddress }: { readonly localAddress?: string } = {}) {
    const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
    this.#transport = new WebSocketTransport(
      { role: 'node', ...(localAddress === undefined ? {} : { localAddress }) },
      { identity, crypto, clock: systemClock, random: systemRandom },
    )
  }

  /** Resolves when the connection is closed. */
  get whenClosed(): Promise<void> {
    return this.#closing.promise
  }

  async connect(tracker: { readonly nodeId: NodeId; readonly url: string }): Promise<void> {
    await this.#transport.start()
    const { promise, resolve, reject } = Promise.withResolvers<Connection>()
    const { trackerPingIntervalMs, maxTrackerPingIntervalMs, trackerMaxMissedPongs } = networkLimits
    this.#transport.dial({
      peerId: tracker.nodeId,
      url: tracker.url,
      limits: {
        pingIntervalMs: trackerPingIntervalMs,
        maxPingIntervalMs: maxTrackerPingIntervalMs,
        maxMissedPongs: trackerMaxMissedPongs,
      },
      onFail: reject,
      onOpen: (connection) => {
        connection.events = {
          onPacket: (type, body) => this.#onPacket(decodePacket(type, body)),
          onDrain: () => {},
          onClose: ({ code }) => this.#onClose(code),
        }
        resolve(connection)
      },
    })
    this.#connection = await promise
    this.#send({ type: 'nodeInfo', contact })
  }

  /** Resolves when it has been told its neighbours; rejects with INCOMPLETE once the connection is closed. */
  join(streamPartId: StreamPartId): Promise<void> {
    if (this.closed !== undefined) return Promise.reject(closedError(this.closed))
    // One that joins again before it was answered gets one answer for both.
    const joining = this.#joining.get(streamPartId) ?? Promise.withResolvers<void>()
    this.#joining.set(streamPartId, joining)
    const counter = this.#counters.get(streamPartId) ?? 0
    this.#send({ type: 'status', streamPartId, counter, neighbours: [], failed: [] })
    return joining.promise
  }

  leave(streamPartId: StreamPartId): void {
    this.#send({ type: 'leave', streamPartId })
  }

  async stop(): Promise<void> {
    await this.#transport.stop()
  }

  #onPacket(packet: Packet): void {
    if (packet.type === 'instruction') this.#obey(packet)
  }

  #obey({ streamPartId, counter, neighbours }: Instruction): void {
    this.#counters.set(streamPartId, counter)
    const reports = neighbours.map(({ nodeId }) => ({ nodeId, rttMs: 5 }))
    this.#send({ type: 'status', streamPartId, counter, neighbours: reports, failed: [] })
    this.#joining.get(streamPartId)?.resolve()
    this.#joining.delete(streamPartId)
  }

  #onClose(code: string): void {
    this.closed = code
    this.#closing.resolve()
    for (const { reject } of this.#joining.values()) reject(closedError(code))
    this.#joining.clear()
  }

  #send(packet: Packet): void {
    this.#connection?.send(encodePacket(packet))
  }
}

function closedError(code: string): Error {
  return benchError('INCOMPLETE', `the connection to the tracker was closed: ${code}`)
}
