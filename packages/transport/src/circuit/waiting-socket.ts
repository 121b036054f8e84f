import { circuitClaimDigest, nodeIdFromBytes, type Cancel, type NodeId } from '@runnel/protocol'
import type { PooledChannel } from '../connection/connection-pool.ts'
import type { ConnectionModules } from '../connection/modules.ts'
import { transportError } from '../errors.ts'
import { answerTimeoutMs, silentAfterMs, stillHereEveryMs } from './limits.ts'
import {
  challengeFrame,
  circuitFrame,
  readWaitingFrame,
  stillHereFrame,
  waitingFrame,
  type Claim,
} from './waiting-frames.ts'

/** A channel whose reading can be paused, so that TCP slows the other side down. */
export interface PausableChannel extends PooledChannel {
  pause(): void
  resume(): void
}

/** A WebSocket on which a node wants to wait. */
export interface InboundWaiting {
  readonly channel: PausableChannel
  /** The remote address. */
  readonly address: string
  /** Whether this side is dialled at this `host:port`. */
  isOwnAddress(address: string): boolean
  /** The node has proven its id. */
  onProven(): void
}

type WaitingModules = Pick<ConnectionModules, 'clock' | 'crypto' | 'random'>

interface WaitingEvents {
  onProven(): void
  /** It waits no more: it has taken a circuit, or is gone. */
  onEnd(): void
}

/** One WebSocket on which a node waits: it proves its id, and may be called once. */
export class WaitingSocket {
  readonly #inbound: InboundWaiting
  readonly #modules: WaitingModules
  readonly #events: WaitingEvents
  readonly #challenge: Uint8Array
  #nodeId: NodeId | undefined
  #onTaken: ((channel: PausableChannel) => void) | undefined
  #onLost: (error: Error) => void = () => {}
  #onGone: () => void = () => {}
  #heardMs: number
  #cancelTimer: Cancel
  #hasEnded = false

  constructor(inbound: InboundWaiting, modules: WaitingModules, events: WaitingEvents) {
    this.#inbound = inbound
    this.#modules = modules
    this.#events = events
    this.#challenge = modules.random.bytes(32)
    this.#heardMs = modules.clock.monotonicMs()
    this.#cancelTimer = modules.clock.schedule(answerTimeoutMs, () => this.close())
    inbound.channel.events = {
      onFrame: (frame) => this.#take(frame),
      onDrain: () => {},
      onClose: () => this.#end(),
    }
    inbound.channel.send(challengeFrame(this.#challenge))
  }

  /** Once it is proven. */
  get nodeId(): NodeId {
    return this.#nodeId as NodeId
  }

  /**
   * Tells the node that somebody is there. Resolves with the channel when it listens; rejects with NO_CIRCUIT. `onGone` is called once that
   * channel is gone, which may be before anybody has it.
   */
  call(onGone: () => void): Promise<PausableChannel> {
    const { promise, resolve, reject } = Promise.withResolvers<PausableChannel>()
    this.#onGone = onGone
    this.#onTaken = resolve
    this.#onLost = reject
    this.#cancelTimer()
    this.#cancelTimer = this.#modules.clock.schedule(answerTimeoutMs, () => this.close())
    // Whoever comes next needs another place.
    this.#events.onEnd()
    this.#inbound.channel.send(circuitFrame)
    return promise
  }

  close(): void {
    this.#inbound.channel.close(true)
    this.#end()
  }

  #end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#cancelTimer()
    this.#onLost(transportError('NO_CIRCUIT', 'the node is gone'))
    this.#events.onEnd()
  }

  #take(frame: Uint8Array): void {
    if (this.#hasEnded) return
    const message = readWaitingFrame(frame)
    this.#heardMs = this.#modules.clock.monotonicMs()
    if (message?.type === 'claim' && this.#nodeId === undefined) return this.#claimed(message)
    if (message?.type === 'stillHere' && this.#nodeId !== undefined) return
    if (message?.type === 'circuit' && this.#onTaken !== undefined) {
      this.#hasEnded = true
      this.#cancelTimer()
      this.#inbound.channel.onGone = this.#onGone
      return this.#onTaken(this.#inbound.channel)
    }
    this.close()
  }

  #claimed(claim: Claim): void {
    if (!this.#isGood(claim)) return this.close()
    this.#nodeId = claim.nodeId
    this.#cancelTimer()
    this.#keepAlive()
    this.#inbound.onProven()
    this.#inbound.channel.send(waitingFrame)
    this.#events.onProven()
  }

  #isGood({ nodeId, signature, address }: Claim): boolean {
    const { crypto } = this.#modules
    if (!this.#inbound.isOwnAddress(address)) return false
    const signer = crypto.recover(
      circuitClaimDigest({ challenge: this.#challenge, address }, crypto),
      signature,
    )
    return signer !== undefined && nodeIdFromBytes(signer) === nodeId
  }

  #keepAlive(): void {
    const { clock } = this.#modules
    this.#cancelTimer = clock.schedule(stillHereEveryMs, () => {
      if (clock.monotonicMs() - this.#heardMs > silentAfterMs) return this.close()
      this.#inbound.channel.send(stillHereFrame)
      this.#keepAlive()
    })
  }
}
