import { seededRandom, type Cancel, type NodeId, type Random } from '@runnel/protocol'
import type { ConnectionModules } from '../connection/open-connection.ts'
import type { Channel } from '../connection/channel.ts'
import { MemoryChannel } from './memory-channel.ts'
import type { MemoryNetworkOptions, MemoryNetworkSettings, NodeCondition } from './memory-options.ts'
import { chanceOf, MemoryWay, type MemoryDial, type WayNetwork } from './memory-way.ts'
import { MemoryTransport, type MemoryExchange, type MemoryTransportOptions } from './memory-transport.ts'
import type { VirtualClock } from './virtual-clock.ts'

const defaults = {
  latencyMs: 1,
  jitterMs: 0,
  lossRate: 0,
  connectFailureRate: 0,
  bytesPerMs: Number.POSITIVE_INFINITY,
  windowBytes: 1024 * 1024,
  addressOf: () => undefined,
} as const

/** A network of nodes in one process, one instance a run. All randomness comes from the seed. */
export class MemoryNetwork implements MemoryExchange, WayNetwork {
  readonly settings: MemoryNetworkSettings
  readonly clock: VirtualClock
  /** Links fork theirs from it. */
  readonly random: Random
  readonly #transports = new Map<NodeId, MemoryTransport>()
  readonly #conditions = new Map<NodeId, NodeCondition>()
  /** The ends of all open channels, by node. */
  readonly #ends = new Map<NodeId, Set<MemoryChannel>>()

  constructor(options: MemoryNetworkOptions, modules: { readonly clock: VirtualClock }) {
    this.settings = { ...defaults, ...options }
    this.clock = modules.clock
    this.random = seededRandom(options.seed)
  }

  /** The transport of one node. It can be dialled by node id while it runs. */
  transport(options: Omit<MemoryTransportOptions, 'network'>, modules: ConnectionModules): MemoryTransport {
    return new MemoryTransport({ ...options, network: this }, modules)
  }

  /** Stops or resumes reading on all channels of a node. */
  setReading(nodeId: NodeId, reading: boolean): void {
    this.condition(nodeId).reading = reading
    if (reading) for (const end of [...this.#endsOf(nodeId)]) end.resumeReading()
  }

  /** Takes a node off the network, or puts it back, without notice to anybody. */
  setOnline(nodeId: NodeId, online: boolean): void {
    this.condition(nodeId).online = online
  }

  /** Breaks every channel of a node, or only its oldest ones; both ends are told. */
  breakLinks(nodeId: NodeId, count?: number): void {
    for (const end of [...this.#endsOf(nodeId)].slice(0, count)) end.close(true)
  }

  join(nodeId: NodeId, transport: MemoryTransport): void {
    this.#transports.set(nodeId, transport)
  }

  leave(nodeId: NodeId): void {
    this.#transports.delete(nodeId)
  }

  condition(nodeId: NodeId): NodeCondition {
    let condition = this.#conditions.get(nodeId)
    if (condition === undefined) this.#conditions.set(nodeId, (condition = { reading: true, online: true }))
    return condition
  }

  connect(
    from: MemoryTransport,
    to: NodeId,
    onOpen: (channel: MemoryChannel) => void,
    onFail: (text: string) => void,
  ): Cancel {
    const { latencyMs, connectFailureRate } = this.settings
    const dial = { from: from.nodeId, to, number: from.nextDialOf(to) }
    const between = typeof latencyMs === 'number' ? () => latencyMs : latencyMs
    const latenciesMs = [between(from.nodeId, to), between(to, from.nodeId)] as const
    const fails = connectFailureRate > 0 && chanceOf(this, dial).next() < connectFailureRate
    let cancelled = false
    this.clock.schedule(latenciesMs[0], () => {
      if (cancelled || !this.condition(from.nodeId).online || !this.condition(to).online) return
      const target = this.#transports.get(to)
      if (target === undefined || fails) {
        const text = fails ? 'refused by chance' : 'nobody is there'
        this.clock.schedule(latenciesMs[1], () => !cancelled && onFail(text))
        return
      }
      const pipe = this.#createPipe(from, target, dial, latenciesMs)
      this.clock.schedule(latenciesMs[1], () => (cancelled ? pipe.dialler.close(true) : onOpen(pipe.dialler)))
      target.accept(pipe.acceptor)
    })
    return () => (cancelled = true)
  }

  /** For the ways. */
  gone(nodeId: NodeId, channel: Channel): void {
    this.#ends.get(nodeId)?.delete(channel as MemoryChannel)
  }

  #createPipe(
    from: MemoryTransport,
    to: MemoryTransport,
    dial: MemoryDial,
    latenciesMs: readonly [number, number],
  ): { readonly dialler: MemoryChannel; readonly acceptor: MemoryChannel } {
    const end = ({ lowMarkBytes }: MemoryTransport, latencyMs: number, isBack: boolean): MemoryChannel =>
      new MemoryChannel(new MemoryWay(this, dial, { isBack, latencyMs, lowMarkBytes }))
    const dialler = end(from, latenciesMs[0], false)
    const acceptor = end(to, latenciesMs[1], true)
    dialler.join(acceptor)
    this.#endsOf(from.nodeId).add(dialler)
    this.#endsOf(to.nodeId).add(acceptor)
    return { dialler, acceptor }
  }

  #endsOf(nodeId: NodeId): Set<MemoryChannel> {
    let ends = this.#ends.get(nodeId)
    if (ends === undefined) this.#ends.set(nodeId, (ends = new Set()))
    return ends
  }
}
