import { seededRandom, type Cancel, type LinkRole, type NodeId, type Random } from '@runnel/protocol'
import type { ConnectionModules } from '../connection/open-connection.ts'
import { MemoryChannel } from './memory-channel.ts'
import { MemoryTransport } from './memory-transport.ts'
import type { VirtualClock } from './virtual-clock.ts'

export interface MemoryNetworkOptions {
  /** Same seed, same run. */
  readonly seed: string | number
  /** One way, in milliseconds; a function is asked once per link and direction. Default 1. */
  readonly latencyMs?: number | ((from: NodeId, to: NodeId) => number)
  /** Up to so much is added to the latency of a frame, evenly drawn; the order is kept. Default 0. */
  readonly jitterMs?: number
  /** The part of frames that are lost, whole, as datagrams would be; a function is asked for each frame. Default 0. */
  readonly lossRate?: number | ((from: NodeId, to: NodeId) => number)
  /** The part of dials that fail. Default 0. */
  readonly connectFailureRate?: number
  /** What one direction of a link carries. Default as much as it is given. */
  readonly bytesPerMs?: number
  /** Bytes on the way and unread in one direction of a link; the rest waits with the sender. Default 1 MiB. */
  readonly windowBytes?: number
  /** The address that a node's bytes come from. Default none, as of a node on the same machine. */
  readonly addressOf?: (nodeId: NodeId) => string | undefined
}

export type MemoryNetworkSettings = Required<MemoryNetworkOptions>

const defaults = {
  latencyMs: 1,
  jitterMs: 0,
  lossRate: 0,
  connectFailureRate: 0,
  bytesPerMs: Number.POSITIVE_INFINITY,
  windowBytes: 1024 * 1024,
  addressOf: () => undefined,
} as const

/** What is wrong with a node, for an experiment. */
export interface NodeCondition {
  /** False: it takes nothing out of its channels, and senders see their buffers fill. */
  reading: boolean
  /** False: frames from and to it vanish, and dials to it hang. */
  online: boolean
}

/** A network of nodes in one process, one instance a run. Everything that is left to chance comes from the seed. */
export class MemoryNetwork {
  readonly settings: MemoryNetworkSettings
  readonly #clock: VirtualClock
  readonly #random: Random
  readonly #transports = new Map<NodeId, MemoryTransport>()
  readonly #conditions = new Map<NodeId, NodeCondition>()
  /** The ends of all open pipes, by the node that has them. */
  readonly #ends = new Map<NodeId, Set<MemoryChannel>>()

  constructor(options: MemoryNetworkOptions, modules: { readonly clock: VirtualClock }) {
    this.settings = { ...defaults, ...options }
    this.#clock = modules.clock
    this.#random = seededRandom(options.seed)
  }

  /** The transport of one node. It can be dialled by node id while it runs. */
  transport(options: { readonly role: LinkRole }, modules: ConnectionModules): MemoryTransport {
    return new MemoryTransport({ ...options, network: this }, modules)
  }

  /** Stops or resumes reading on all channels of a node. */
  setReading(nodeId: NodeId, reading: boolean): void {
    this.condition(nodeId).reading = reading
    if (reading) for (const end of [...this.#endsOf(nodeId)]) end.resumeReading()
  }

  /** Takes a node off the network, or puts it back, without anybody being told. */
  setOnline(nodeId: NodeId, online: boolean): void {
    this.condition(nodeId).online = online
  }

  /** Breaks every channel of a node; both ends are told. */
  breakLinks(nodeId: NodeId): void {
    for (const end of [...this.#endsOf(nodeId)]) end.close(true)
  }

  /** For transports: makes a node known under its id. */
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

  /**
   * For transports: opens a pipe. The other node has its end after one latency, the dialling one after two; then `onOpen` or
   * `onFail` is called, or neither when one of them is offline.
   */
  connect(
    from: MemoryTransport,
    to: NodeId,
    onOpen: (channel: MemoryChannel) => void,
    onFail: (text: string) => void,
  ): Cancel {
    const { latencyMs, connectFailureRate } = this.settings
    const link = `${from.nodeId}>${to}#${from.nextDialOf(to)}`
    const random = this.#random.fork(link)
    const between = typeof latencyMs === 'number' ? () => latencyMs : latencyMs
    const latenciesMs = [between(from.nodeId, to), between(to, from.nodeId)] as const
    const fails = random.next() < connectFailureRate
    let cancelled = false
    this.#clock.schedule(latenciesMs[0], () => {
      if (cancelled || !this.condition(from.nodeId).online || !this.condition(to).online) return
      const target = this.#transports.get(to)
      if (target === undefined || fails) {
        const text = fails ? 'refused by chance' : 'nobody is there'
        this.#clock.schedule(latenciesMs[1], () => !cancelled && onFail(text))
        return
      }
      const pipe = this.#createPipe(from, target, latenciesMs, random)
      this.#clock.schedule(latenciesMs[1], () =>
        cancelled ? pipe.dialler.close(true) : onOpen(pipe.dialler),
      )
      target.accept(pipe.acceptor)
    })
    return () => (cancelled = true)
  }

  #createPipe(
    from: MemoryTransport,
    to: MemoryTransport,
    latenciesMs: readonly [number, number],
    random: Random,
  ): { readonly dialler: MemoryChannel; readonly acceptor: MemoryChannel } {
    const { lossRate } = this.settings
    const lossBetween = typeof lossRate === 'number' ? () => lossRate : lossRate
    const end = (
      transport: MemoryTransport,
      other: MemoryTransport,
      latencyMs: number,
      label: string,
    ): MemoryChannel =>
      new MemoryChannel(
        { ...this.settings, latencyMs, lowMarkBytes: transport.lowMarkBytes },
        {
          remoteAddress: this.settings.addressOf(other.nodeId),
          clock: this.#clock,
          random: random.fork(label),
          condition: this.condition(transport.nodeId),
          lossRate: () => lossBetween(transport.nodeId, other.nodeId),
          onGone: (channel) => this.#ends.get(transport.nodeId)?.delete(channel),
        },
      )
    const dialler = end(from, to, latenciesMs[0], 'out')
    const acceptor = end(to, from, latenciesMs[1], 'back')
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
