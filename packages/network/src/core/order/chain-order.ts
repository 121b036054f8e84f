import {
  compareRefs,
  placeOf,
  type MessageChain,
  type MessageRef,
  type StreamMessage,
} from '@runnel/protocol'
import { HeldMessages } from './held-messages.ts'

export interface ChainOrderLimits {
  /** Messages held back while others before them are missing; above it, the oldest gap is skipped. */
  readonly maxHeldMessages: number
  /** Total bytes of their content. */
  readonly maxHeldBytes: number
  /** Message chains remembered; the least recently used is forgotten first. */
  readonly maxOrderedChains: number
}

export const chainOrderLimits: ChainOrderLimits = {
  maxHeldMessages: 10_000,
  maxHeldBytes: 64 * 1024 * 1024,
  maxOrderedChains: 1_000,
}

export interface ChainOrderModules {
  /** True while the message at this place was not pushed and still may be. */
  isMissing(chain: MessageChain, place: MessageRef): boolean
}

/** The output, in order: messages, and between them gaps whose messages will not come. */
export type Ordered =
  | { readonly kind: 'message'; readonly message: StreamMessage }
  /** Everything after `after`, up to and including `upTo`. */
  | {
      readonly kind: 'gap'
      readonly chain: MessageChain
      readonly after: MessageRef
      readonly upTo: MessageRef
    }

export interface ChainOrderCounters {
  /** Messages that came after their place had been skipped. */
  readonly late: number
  /** Gaps skipped because too much was held. */
  readonly passedOver: number
}

interface ChainState {
  readonly chain: MessageChain
  /** The newest place that was delivered or given up. */
  last: MessageRef | undefined
  readonly held: HeldMessages
}

/**
 * Puts the messages of each chain in order: a message is delivered once the one it names as its previous was delivered, or will
 * not come. The node knows what is missing and how long to wait for it: it must call `gap` when it gives up. Pure: every method
 * returns what can be delivered now.
 */
export class ChainOrder {
  readonly #limits: ChainOrderLimits
  readonly #modules: ChainOrderModules
  /** In order of use. */
  readonly #chains = new Map<string, ChainState>()
  readonly #counters = { late: 0, passedOver: 0 }
  /** The chain used last, because messages mostly come in runs. */
  #latest: ChainState | undefined
  #heldMessages = 0
  #heldBytes = 0

  constructor(limits: ChainOrderLimits, modules: ChainOrderModules) {
    this.#limits = limits
    this.#modules = modules
  }

  get counters(): ChainOrderCounters {
    return { ...this.#counters }
  }

  /** Messages held back. */
  get held(): number {
    return this.#heldMessages
  }

  push(message: StreamMessage): readonly Ordered[] {
    const state = this.#stateOf(message)
    if (state.last !== undefined && compareRefs(message, state.last) <= 0) {
      this.#counters.late++
      return []
    }
    const out: Ordered[] = []
    if (state.held.size === 0 && this.#mayFollow(state, message)) this.#deliver(state, message, out)
    else {
      this.#hold(state, message)
      this.#drain(state, out)
      this.#enforceLimits(out)
    }
    return out
  }

  /** A gap was given up. */
  gap(chain: MessageChain, after: MessageRef, upTo: MessageRef): readonly Ordered[] {
    const state = this.#stateOf(chain)
    const out: Ordered[] = []
    const next = state.held.first
    // Before the first message there is nothing that could tell where the gap begins.
    if (state.last === undefined && next !== undefined && compareRefs(upTo, next) < 0) {
      out.push({ kind: 'gap', chain: state.chain, after, upTo })
      state.last = placeOf(upTo)
    }
    this.#drain(state, out)
    return out
  }

  /** Marks everything in the chain up to a place as delivered by another path. */
  start(chain: MessageChain, last: MessageRef): readonly Ordered[] {
    const state = this.#stateOf(chain)
    if (state.last !== undefined && compareRefs(last, state.last) <= 0) return []
    state.last = placeOf(last)
    for (let first = state.held.first; first !== undefined; first = state.held.first) {
      if (compareRefs(first, last) > 0) break
      this.#unhold(state)
    }
    const out: Ordered[] = []
    this.#drain(state, out)
    return out
  }

  /** Something that was missing is not any more, and does not come by itself. */
  recheck(): readonly Ordered[] {
    const out: Ordered[] = []
    for (const state of this.#chains.values()) this.#drain(state, out)
    return out
  }

  /** Returns everything held, in order, with the gaps, and holds nothing afterwards. */
  flush(): readonly Ordered[] {
    const out: Ordered[] = []
    for (const state of this.#chains.values()) this.#deliverAll(state, out)
    return out
  }

  #mayFollow(state: ChainState, message: StreamMessage): boolean {
    const { previous } = message
    if (previous === undefined) return true
    if (state.last !== undefined && compareRefs(previous, state.last) <= 0) return true
    return !this.#modules.isMissing(state.chain, previous)
  }

  #deliver(state: ChainState, message: StreamMessage, out: Ordered[]): void {
    const { previous } = message
    const { chain, last } = state
    if (previous !== undefined && last !== undefined && compareRefs(previous, last) > 0) {
      out.push({ kind: 'gap', chain, after: last, upTo: placeOf(previous) })
    }
    state.last = placeOf(message)
    out.push({ kind: 'message', message })
  }

  #drain(state: ChainState, out: Ordered[]): void {
    for (let first = state.held.first; first !== undefined; first = state.held.first) {
      if (!this.#mayFollow(state, first)) return
      this.#deliver(state, this.#unhold(state), out)
    }
  }

  #deliverAll(state: ChainState, out: Ordered[]): void {
    while (state.held.size > 0) this.#deliver(state, this.#unhold(state), out)
  }

  #hold(state: ChainState, message: StreamMessage): void {
    if (!state.held.add(message)) return
    this.#heldMessages++
    this.#heldBytes += message.content.length
  }

  #unhold(state: ChainState): StreamMessage {
    const message = state.held.take()
    this.#heldMessages--
    this.#heldBytes -= message.content.length
    return message
  }

  /** The chain that was idle longest has the least claim to wait. */
  #enforceLimits(out: Ordered[]): void {
    const { maxHeldMessages, maxHeldBytes } = this.#limits
    for (const state of this.#chains.values()) {
      while (
        state.held.size > 0 &&
        (this.#heldMessages > maxHeldMessages || this.#heldBytes > maxHeldBytes)
      ) {
        this.#counters.passedOver++
        this.#deliver(state, this.#unhold(state), out)
        this.#drain(state, out)
      }
    }
  }

  #stateOf(chain: MessageChain): ChainState {
    if (this.#latest === undefined || !isSame(chain, this.#latest.chain)) this.#latest = this.#find(chain)
    return this.#latest
  }

  #find({ streamId, partition, publisherId, messageChainId }: MessageChain): ChainState {
    const key = `${streamId}#${partition} ${publisherId} ${messageChainId}`
    let state = this.#chains.get(key)
    if (state === undefined) {
      const chain = { streamId, partition, publisherId, messageChainId }
      state = { chain, last: undefined, held: new HeldMessages() }
      if (this.#chains.size >= this.#limits.maxOrderedChains) this.#forgetOne()
    } else this.#chains.delete(key)
    this.#chains.set(key, state)
    return state
  }

  /** The first chain that holds nothing; what is held must be delivered at some time. */
  #forgetOne(): void {
    for (const [key, { held }] of this.#chains) {
      if (held.size > 0) continue
      this.#chains.delete(key)
      return
    }
  }
}

function isSame(a: MessageChain, b: MessageChain): boolean {
  return (
    a.messageChainId === b.messageChainId &&
    a.publisherId === b.publisherId &&
    a.partition === b.partition &&
    a.streamId === b.streamId
  )
}
