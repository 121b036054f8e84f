import { isRunnelError, networkOf, Shares, type Cancel, type NodeId } from '@runnel/protocol'
import type { ConnectionModules } from '../connection/modules.ts'
import { transportError } from '../errors.ts'
import type { Circuits } from '../ws/ws-options.ts'
import { circuitDefaults, frameCostBytes, nextPlaceTimeoutMs, type CircuitLimits } from './limits.ts'
import { Pace } from './pace.ts'
import { WaitingSocket, type InboundWaiting, type PausableChannel } from './waiting-socket.ts'

/** A circuit to a node, from when it is asked for until its channel is gone. */
interface Carried {
  readonly to: NodeId
  /** Ends it. */
  close(): void
}

/**
 * Carries circuits to nodes that wait for them here: joins the WebSocket of whoever dials with one on which the node waits. Both
 * ends make the ordinary handshake over it, so this node can neither read nor change what it carries. What the others can take of
 * it is bounded: circuits, by network and by node, and bytes a second.
 */
export class CircuitCarrier implements Circuits {
  readonly #counters = { opened: 0, refused: 0, evicted: 0, bytes: 0 }
  readonly #limits: CircuitLimits
  readonly #modules: Pick<ConnectionModules, 'clock' | 'crypto' | 'random'>
  /** All that wait, or want to. */
  readonly #sockets = new Set<WaitingSocket>()
  /** Those that have proven their ids. */
  readonly #waiting = new Map<NodeId, WaitingSocket>()
  readonly #waitingShares: Shares<WaitingSocket>
  readonly #carried = new Set<Carried>()
  readonly #carriedShares: Shares<Carried>
  /** By the nodes they lead to. */
  readonly #sharesTo = new Map<NodeId, Shares<Carried>>()
  /** Circuits to nodes that have just taken another one. */
  readonly #wanted = new Map<NodeId, Set<(waiting: WaitingSocket) => void>>()
  readonly #pace: Pace
  #isStopped = false

  constructor(
    limits: Partial<CircuitLimits>,
    modules: Pick<ConnectionModules, 'clock' | 'crypto' | 'random'>,
  ) {
    this.#limits = { ...circuitDefaults, ...limits }
    this.#modules = modules
    this.#waitingShares = new Shares({ max: this.#limits.maxWaiting, evict: 'newest' })
    this.#carriedShares = new Shares({ max: this.#limits.maxCircuits, evict: 'newest' })
    this.#pace = new Pace(this.#limits.maxBytesPerS, modules.clock)
  }

  get maxQueuedBytes(): number {
    return this.#limits.maxQueuedBytes
  }

  get metrics(): Readonly<Record<string, number>> {
    const { opened, refused, evicted, bytes } = this.#counters
    return {
      'circuits.open': this.#carried.size,
      'circuits.waiting': this.#waiting.size,
      'circuits.opened': opened,
      'circuits.refused': refused,
      'circuits.evicted': evicted,
      'circuits.bytes': bytes,
    }
  }

  /** A channel to the node, which listens on it. Rejects with NO_CIRCUIT and TOO_MANY_CONNECTIONS. */
  async open(path: readonly NodeId[], address: string): Promise<PausableChannel> {
    const [to] = path
    if (to === undefined || path.length > 1)
      throw this.#refused(transportError('NO_CIRCUIT', 'one node only'))
    const carried = this.#enter(to, address)
    try {
      const waiting = this.#waiting.get(to) ?? (await this.#nextPlaceOf(carried))
      carried.close = () => waiting.close()
      const channel = await waiting.call(() => this.#leave(carried))
      if (!this.#carried.has(carried)) {
        channel.close(true)
        throw transportError('NO_CIRCUIT', 'it has ended already')
      }
      this.#counters.opened++
      return channel
    } catch (error) {
      this.#leave(carried)
      throw this.#refused(error)
    }
  }

  /** Called with what each side of a new circuit sends: counts it, and reads on when it is paid for. */
  pace(): (from: PausableChannel, bytes: number) => void {
    const { clock } = this.#modules
    const own = new Pace(this.#limits.maxCircuitBytesPerS, clock)
    const resuming = new Map<PausableChannel, Cancel>()
    return (from, bytes) => {
      this.#counters.bytes += bytes
      const cost = bytes + frameCostBytes
      const waitMs = Math.max(own.read(cost), this.#pace.read(cost))
      if (waitMs === 0) return
      from.pause()
      resuming.get(from)?.()
      resuming.set(
        from,
        clock.schedule(waitMs, () => from.resume()),
      )
    }
  }

  /** Lets a node wait, once it has proven its id. Nobody may after `stop`. */
  wait(inbound: InboundWaiting): void {
    if (this.#isStopped) return inbound.channel.close(true)
    const waiting = new WaitingSocket(inbound, this.#modules, {
      onProven: () => {
        const { nodeId } = waiting
        this.#waiting.get(nodeId)?.close()
        this.#waiting.set(nodeId, waiting)
        const [next] = this.#wanted.get(nodeId) ?? []
        next?.(waiting)
      },
      onEnd: () => {
        this.#sockets.delete(waiting)
        this.#waitingShares.delete(waiting)
        if (this.#waiting.get(waiting.nodeId) === waiting) this.#waiting.delete(waiting.nodeId)
      },
    })
    this.#sockets.add(waiting)
    for (const evicted of this.#waitingShares.add(waiting, networkOf(inbound.address))) {
      this.#counters.evicted++
      evicted.close()
    }
  }

  /** For good. Closes what waits or wants to, and circuits, also those that are being opened. */
  stop(): void {
    this.#isStopped = true
    for (const waiting of [...this.#sockets]) waiting.close()
    for (const carried of [...this.#carried]) carried.close()
  }

  #refused(error: unknown): unknown {
    this.#counters.refused++
    return isRunnelError(error) ? error : transportError('NO_CIRCUIT', String(error), { cause: error })
  }

  #enter(to: NodeId, address: string): Carried {
    const { maxCircuitsPerPeer: max } = this.#limits
    const toSame = this.#sharesTo.get(to) ?? new Shares<Carried>({ max, evict: 'newest' })
    this.#sharesTo.set(to, toSame)
    const carried: Carried = { to, close: () => this.#leave(carried) }
    this.#carried.add(carried)
    for (const shares of [toSame, this.#carriedShares]) {
      this.#evict(shares.add(carried, networkOf(address)))
      if (!this.#carried.has(carried))
        throw this.#refused(transportError('TOO_MANY_CONNECTIONS', 'too many circuits'))
    }
    return carried
  }

  #evict(evicted: readonly Carried[]): void {
    for (const carried of evicted) {
      this.#counters.evicted++
      carried.close()
      this.#leave(carried)
    }
  }

  #leave(carried: Carried): void {
    this.#carried.delete(carried)
    this.#carriedShares.delete(carried)
    const toSame = this.#sharesTo.get(carried.to)
    toSame?.delete(carried)
    if (toSame?.size === 0) this.#sharesTo.delete(carried.to)
  }

  /** The next place of a node that has others already: it waits again as soon as it has taken one. */
  #nextPlaceOf(carried: Carried): Promise<WaitingSocket> {
    const { to } = carried
    const isKnown = (this.#sharesTo.get(to)?.size ?? 0) > 1
    if (!isKnown) return Promise.reject(transportError('NO_CIRCUIT', `${to} does not wait here`))
    const { promise, resolve, reject } = Promise.withResolvers<WaitingSocket>()
    const wanted = this.#wanted.get(to) ?? new Set()
    this.#wanted.set(to, wanted.add(resolve))
    carried.close = () => reject(transportError('TOO_MANY_CONNECTIONS', 'another network needs the room'))
    const cancel = this.#modules.clock.schedule(nextPlaceTimeoutMs, () =>
      reject(transportError('NO_CIRCUIT', `${to} no longer waits here`)),
    )
    return promise.finally(() => {
      cancel()
      wanted.delete(resolve)
      if (wanted.size === 0) this.#wanted.delete(to)
    })
  }
}
