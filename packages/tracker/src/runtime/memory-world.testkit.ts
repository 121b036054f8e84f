import {
  createIdentity,
  decodePacket,
  encodePacket,
  generatePrivateKey,
  loadCrypto,
  seededRandom,
  type Credential,
  type NodeId,
  type Packet,
} from '@runnel/protocol'
import { MemoryNetwork, VirtualClock, type CloseReason, type Connection } from '@runnel/transport'
import { webrtcContact } from '../core/tracker-core.testkit.ts'
import { TrackerCore } from '../core/tracker-core.ts'
import { createIceServerSource } from '../ice/ice-server-source.ts'
import { defaultTrackerLimits } from '../limits.ts'
import { RemovableNodes } from './removable-nodes.testkit.ts'
import { FreezableClock } from './freezable-clock.testkit.ts'
import { StallGuard } from './stall-guard.ts'
import { TrackerRuntime } from './tracker-runtime.ts'

const crypto = await loadCrypto()

/** A tracker and its nodes in memory, on a clock that only turns when told to. */
export class MemoryWorld {
  readonly clock = new VirtualClock()
  readonly network = new MemoryNetwork({ seed: 'runtime' }, { clock: this.clock })
  readonly #random = seededRandom('runtime test')
  readonly identity = createIdentity(generatePrivateKey(this.#random), crypto)
  readonly core = new TrackerCore(
    { degree: 4, limits: defaultTrackerLimits },
    { random: this.#random.fork('core') },
  )
  readonly ice = createIceServerSource({ turn: { urls: ['turn:t.example.org'], secret: 'north', ttlS: 600 } })
  readonly admission = new RemovableNodes()
  /** The tracker's own clock. */
  readonly trackerClock = new FreezableClock(this.clock)
  readonly stalls = new StallGuard(
    { stallMs: 3_000, onStall: () => this.runtime.beginAnew() },
    { clock: this.trackerClock, cpuMs: () => 0 },
  )
  /** True in a test of faults; in any other, one of them fails it. */
  expectsFaults = false
  readonly runtime: TrackerRuntime = new TrackerRuntime({
    // Reaches whoever turns the clock.
    onError: (error) => {
      if (!this.expectsFaults) throw error
    },
    admission: this.admission,
    core: this.core,
    clock: this.trackerClock,
    crypto,
    checkStall: () => this.stalls.check(),
    ice: this.ice,
    transport: this.network.transport({ role: 'tracker' }, this.#modules('tracker', this.identity)),
  })

  async start(): Promise<this> {
    await this.runtime.start()
    return this
  }

  #modules(label: string, identity: ReturnType<typeof createIdentity>) {
    return { clock: this.clock, random: this.#random.fork(label), crypto, identity }
  }

  /** With a credential it acts for that user. */
  async node(label: string, credential?: (nodeId: NodeId) => Credential) {
    const identity = createIdentity(generatePrivateKey(this.#random.fork(`key ${label}`)), crypto)
    const shown = credential?.(identity.nodeId)
    const acting = { chainId: undefined, credential: () => shown, onChange: () => () => undefined }
    const modules = { ...this.#modules(label, identity), ...(shown && { acting }) }
    const transport = this.network.transport({ role: 'node' }, modules)
    await transport.start()
    const received: { atMs: number; packet: Packet }[] = []
    const closed: CloseReason[] = []
    let connection: Connection | undefined
    transport.dial({
      peerId: this.identity.nodeId,
      onFail: (error) => {
        throw error
      },
      onOpen: (opened) => {
        connection = opened
        opened.events = {
          onPacket: (type, body) =>
            received.push({ atMs: this.clock.monotonicMs(), packet: decodePacket(type, body.slice()) }),
          onDrain: () => {},
          onClose: (reason) => closed.push(reason),
        }
        opened.send(encodePacket({ type: 'nodeInfo', contact: webrtcContact }))
      },
    })
    this.clock.advanceBy(1_000)
    return {
      nodeId: identity.nodeId,
      identity,
      received,
      closed,
      send: (packet: Packet) => connection?.send(encodePacket(packet)),
    }
  }
}
