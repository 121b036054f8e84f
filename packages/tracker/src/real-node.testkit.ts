import {
  createIdentity,
  decodePacket,
  encodePacket,
  generatePrivateKey,
  loadCrypto,
  type Capability,
  type LinkRole,
  type NodeId,
  type Packet,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { WebSocketTransport, type CloseReason, type Connection } from '@runnel/transport'
import { createTracker, type Tracker } from './create-tracker.ts'
import type { TrackerOptions } from './options.ts'
import { webrtcContact } from './core/tracker-core.testkit.ts'

const crypto = await loadCrypto()
const newIdentity = () => createIdentity(generatePrivateKey(systemRandom), crypto)
const system = { crypto, clock: systemClock, random: systemRandom }

/** A tracker on a free port. */
export async function startTracker(options: TrackerOptions = {}): Promise<Tracker> {
  const listen = { port: 0, ...options.listen }
  // A fault fails the test: what is thrown here nobody catches.
  const onError = (error: unknown) => {
    throw error
  }
  const tracker = createTracker({ ...options, listen }, { ...system, identity: newIdentity(), onError })
  await tracker.start()
  return tracker
}

export interface RealNodeOptions {
  readonly role?: LinkRole
  readonly trustedCertificates?: string
  readonly identity?: ReturnType<typeof newIdentity>
  readonly capabilities?: readonly Capability[]
}

/** A node with a real socket and no mind of its own. */
export class RealNode {
  readonly identity: ReturnType<typeof newIdentity>
  readonly received: Packet[] = []
  /** Called with each packet, after it was added to `received`. */
  onReceived: (packet: Packet) => void = () => {}
  /** Called when the newest connection is gone. */
  onLost: () => void = () => {}
  readonly #transport: WebSocketTransport
  #connection: Connection | undefined
  #closed = Promise.withResolvers<CloseReason>()
  #waiting: (() => void)[] = []

  constructor(options: RealNodeOptions = {}) {
    this.identity = options.identity ?? newIdentity()
    const { role = 'node', trustedCertificates, capabilities = [] } = options
    this.#transport = new WebSocketTransport(
      { role, ...(trustedCertificates === undefined ? {} : { trustedCertificates }) },
      { ...system, identity: this.identity, capabilities },
    )
  }

  get nodeId(): NodeId {
    return this.identity.nodeId
  }

  /** Why the connection was closed, once it is. */
  get closed(): Promise<CloseReason> {
    return this.#closed.promise
  }

  /** Connects to a tracker; with `introduce`, says how it is reached. */
  async connect(tracker: Pick<Tracker, 'nodeId' | 'url'>, introduce = true): Promise<void> {
    await this.#transport.start()
    const { promise, resolve, reject } = Promise.withResolvers<Connection>()
    this.#transport.dial({
      peerId: tracker.nodeId,
      url: tracker.url,
      onFail: reject,
      onOpen: (connection) => {
        connection.events = {
          onPacket: (type, body) => {
            const packet = decodePacket(type, body.slice())
            this.received.push(packet)
            this.onReceived(packet)
            for (const check of this.#waiting) check()
          },
          onDrain: () => {},
          onClose: (reason) => {
            this.#closed.resolve(reason)
            if (this.#connection === connection) this.onLost()
          },
        }
        resolve(connection)
      },
    })
    this.#connection = await promise
    if (introduce) this.send({ type: 'nodeInfo', contact: webrtcContact })
  }

  send(packet: Packet): void {
    this.sendBytes(encodePacket(packet))
  }

  sendBytes(packet: Uint8Array): void {
    this.#connection?.send(packet)
  }

  /** The first received packet, since `from` packets, that is of a type and passes a test. */
  async receive<T extends Packet['type']>(
    type: T,
    test: (packet: Extract<Packet, { type: T }>) => boolean = () => true,
    from = 0,
  ): Promise<Extract<Packet, { type: T }>> {
    const isIt = (packet: Packet): packet is Extract<Packet, { type: T }> =>
      packet.type === type && test(packet as Extract<Packet, { type: T }>)
    const { promise, resolve } = Promise.withResolvers<Extract<Packet, { type: T }>>()
    const check = () => {
      const found = this.received.slice(from).find(isIt)
      if (found !== undefined) resolve(found)
    }
    this.#waiting.push(check)
    check()
    const packet = await promise
    this.#waiting = this.#waiting.filter((other) => other !== check)
    return packet
  }

  async stop(): Promise<void> {
    await this.#transport.stop()
  }
}
