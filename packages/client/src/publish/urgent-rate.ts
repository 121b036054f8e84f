import type { NetworkNode } from '@runnel/network'
import {
  parseStreamPartId,
  toStreamPartId,
  type NodeId,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import { onAbort, throwIfAborted, whileOpen } from '../deadline.ts'
import { clientError } from '../errors.ts'
import { checkOptions, type OptionNames } from '../options.ts'
import { requirePermission, type PermissionModules } from '../permission.ts'
import type { StatusHub } from '../status.ts'
import { checkPartition } from './partition.ts'

/** Which partition of a stream to follow, and for how long. */
export interface UrgentRateOptions {
  /** Default: 0. */
  readonly partition?: number | undefined
  /** Stops following the rate, as `close` does. */
  readonly signal?: AbortSignal | undefined
}

const rateOptions: OptionNames<UrgentRateOptions> = { partition: true, signal: 'signal' }

/** How many copies of the user's urgent messages this client dropped, on all links together, by cause. */
export interface UrgentDrops {
  /** Their lifetime ended before the link had room. */
  readonly late: number
  /** A newer group took their place. */
  readonly replaced: number
  /** A link carries less than all layers. */
  readonly shed: number
  /** Too much waited. */
  readonly refused: number
  /** They were more than all nodes accept from one publisher, and went to nobody. */
  readonly overShare: number
}

/** The events of an UrgentRate. */
export interface UrgentRateEvents {
  /** A new rate in kbit/s, about ten times a second while it changes; undefined if there is nobody to send to. */
  rate: (kbitPerS: number | undefined) => void
  /** More copies were dropped. */
  dropped: (drops: UrgentDrops) => void
}

type ListenerSets = { readonly [E in keyof UrgentRateEvents]: Set<UrgentRateEvents[E]> }

export interface UrgentRateModules {
  readonly node: Pick<NetworkNode, 'on' | 'urgentKbitPerS'>
  readonly userId: NodeId
  readonly status: Pick<StatusHub, 'emit'>
}

/**
 * Follows the rate until it is ended, or the client closes. Throws INVALID_ARGUMENT, PARTITION_OUT_OF_RANGE, CLIENT_CLOSED, ABORTED, and what
 * `requirePermission` throws.
 */
export async function openUrgentRate(
  streamId: StreamId,
  options: UrgentRateOptions,
  modules: UrgentRateModules & PermissionModules & { readonly closing: AbortSignal },
): Promise<UrgentRate> {
  checkOptions('urgentRate', options, rateOptions)
  const { partition = 0, signal } = options
  throwIfAborted(signal)
  const stream = await requirePermission('publish', streamId, modules)
  const streamPartId = toStreamPartId(stream.id, checkPartition(partition, stream))
  return new UrgentRate(streamPartId, modules, whileOpen(modules.closing, signal))
}

/**
 * How much a publisher may send, for an encoder to follow: the rate of everything that its user publishes urgently in the partition, in kbit/s on
 * the wire, that its links carry to all neighbours but the worst. Nodes behind those neighbours may have worse links; upper layers are shed before
 * such links.
 */
export class UrgentRate implements Disposable {
  readonly streamPartId: StreamPartId
  readonly #modules: UrgentRateModules
  readonly #listeners: ListenerSets = { rate: new Set(), dropped: new Set() }
  readonly #stops: readonly (() => void)[]
  #kbitPerS: number | undefined
  #drops: UrgentDrops = { late: 0, replaced: 0, shed: 0, refused: 0, overShare: 0 }

  constructor(streamPartId: StreamPartId, modules: UrgentRateModules, ended: AbortSignal) {
    const { node, userId } = modules
    this.streamPartId = streamPartId
    this.#modules = modules
    this.#kbitPerS = this.#current()
    this.#stops = [
      node.on('urgentRate', () => this.#check()),
      node.on('neighbours', (id) => id === streamPartId && this.#check()),
      node.on('urgentDropped', (why, { publisher, chain }) => {
        if (publisher === userId && chain.startsWith(`${streamPartId} `)) this.#dropped(why)
      }),
      node.on('urgentOverShare', ({ streamId, partition }) => {
        if (toStreamPartId(streamId, partition) === streamPartId) this.#dropped('overShare')
      }),
      onAbort(ended, () => this.close()),
    ]
  }

  /** The present rate; undefined if there is nobody to send to. */
  get kbitPerS(): number | undefined {
    return this.#kbitPerS
  }

  /** The drops since this object was made. */
  get drops(): UrgentDrops {
    return this.#drops
  }

  /**
   * Calls the listener from now on, until the returned function is called. An error of a listener becomes a status 'callback-failed'. Throws
   * INVALID_ARGUMENT.
   */
  on<E extends keyof UrgentRateEvents>(event: E, listener: UrgentRateEvents[E]): () => void {
    if (!Object.hasOwn(this.#listeners, event) || typeof listener !== 'function')
      throw clientError('INVALID_ARGUMENT', 'on takes one of rate, dropped, and a function')
    const listeners: Set<UrgentRateEvents[E]> = this.#listeners[event]
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  /** Calls listeners no more. Idempotent. */
  close(): void {
    for (const stop of this.#stops) stop()
    for (const listeners of Object.values(this.#listeners)) listeners.clear()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #current(): number | undefined {
    const kbitPerS = this.#modules.node.urgentKbitPerS(this.streamPartId, this.#modules.userId)
    return kbitPerS === undefined ? undefined : Math.round(kbitPerS)
  }

  #check(): void {
    const kbitPerS = this.#current()
    if (kbitPerS === this.#kbitPerS) return
    this.#kbitPerS = kbitPerS
    this.#tell('rate', kbitPerS)
  }

  #dropped(why: keyof UrgentDrops): void {
    this.#drops = { ...this.#drops, [why]: this.#drops[why] + 1 }
    this.#tell('dropped', this.#drops)
  }

  #tell<E extends keyof UrgentRateEvents>(event: E, ...args: Parameters<UrgentRateEvents[E]>): void {
    const listeners: Set<UrgentRateEvents[E]> = this.#listeners[event]
    for (const listener of listeners) {
      try {
        ;(listener as (...args: Parameters<UrgentRateEvents[E]>) => void)(...args)
      } catch (error) {
        const { streamId } = parseStreamPartId(this.streamPartId)
        this.#modules.status.emit({ type: 'callback-failed', streamId, error })
      }
    }
  }
}
