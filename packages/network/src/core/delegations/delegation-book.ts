import {
  decodeDelegation,
  delegationRef,
  encodeDelegation,
  Shares,
  RareLru,
  RareMap,
  type Crypto,
  type Delegation,
  type DelegationRef,
  type NodeId,
} from '@runnel/protocol'

export interface DelegationBookLimits {
  readonly maxDelegations: number
}

/** Delegations kept as objects: those of current publishers. */
const maxDecoded = 1_024

/** A delegation, and where it has been. */
interface Entry {
  /** Its bytes, a character each: half of what the object takes. */
  readonly encoded: string
  /** What checking it once said; undefined: nobody asked yet. */
  isGood: boolean | undefined
  /** Its bit in the sets of `#has`. */
  readonly slot: number
}

export interface DelegationBookModules {
  readonly crypto: Crypto
  /** The chain on which delegations have to be; undefined: any will do. */
  readonly chainId?: number | undefined
  /** Whether its user signed it, or may have where that is a contract, and its bounds are kept. Costs a signature check. */
  verify(delegation: Delegation): boolean
}

/**
 * The delegations that batches name, and which neighbours have them: each travels once a link. Places are shared out by who
 * brought them, so that a neighbour that makes some up pushes out its own.
 */
export class DelegationBook {
  readonly #modules: DelegationBookModules
  readonly #entries = new RareMap<DelegationRef, Entry>()
  readonly #decoded = new RareLru<DelegationRef, Delegation>(maxDecoded)
  readonly #places: Shares<DelegationRef>
  readonly #freeSlots: number[] = []
  /** Which slots each peer with a link has. */
  readonly #has = new Map<NodeId, Uint32Array>()
  readonly #words: number
  /** Used last, and most often the next to be used. Nothing was used or added since, so that it need not be touched. */
  #lastUsed: { readonly ref: DelegationRef; readonly delegation: Delegation } | undefined

  constructor(limits: DelegationBookLimits, modules: DelegationBookModules) {
    this.#modules = modules
    this.#places = new Shares({ max: limits.maxDelegations, evict: 'oldest' })
    this.#words = Math.ceil((limits.maxDelegations + 1) / 32)
  }

  get size(): number {
    return this.#entries.size
  }

  /** Using one keeps it: of those that one neighbour brought the one unused longest is forgotten first. */
  get(ref: DelegationRef): Delegation | undefined {
    if (this.#lastUsed?.ref === ref) return this.#lastUsed.delegation
    const entry = this.#entries.get(ref)
    if (entry === undefined) return undefined
    this.#places.touch(ref)
    const delegation = this.#decoded.get(ref) ?? decoded(entry)
    this.#decoded.set(ref, delegation)
    this.#lastUsed = { ref, delegation }
    return delegation
  }

  /** True for one that says nothing here: its user signed it for another chain. */
  isOfOtherChain({ chainId }: Delegation): boolean {
    return this.#modules.chainId !== undefined && chainId !== this.#modules.chainId
  }

  /** True when the delegation is known and good; it is checked once. */
  isGood(ref: DelegationRef): boolean {
    const entry = this.#entries.get(ref)
    if (entry?.isGood !== undefined) return entry.isGood
    const delegation = this.get(ref)
    if (entry === undefined || delegation === undefined) return false
    return (entry.isGood = this.#modules.verify(delegation))
  }

  /** Keeps a delegation; a neighbour that brought it has it. */
  add(delegation: Delegation, from?: NodeId): DelegationRef {
    this.#lastUsed = undefined
    const bytes = encodeDelegation(delegation)
    const ref = delegationRef(bytes, this.#modules.crypto)
    const known = this.#entries.get(ref)
    if (known === undefined) {
      const slot = this.#freeSlots.pop() ?? this.#entries.size
      this.#entries.set(ref, { encoded: String.fromCharCode(...bytes), isGood: undefined, slot })
      for (const evicted of this.#places.add(ref, from ?? 'own')) this.#forget(evicted)
    } else this.#places.touch(ref)
    if (from !== undefined) this.#mark(ref, from)
    return ref
  }

  /**
   * What has to be sent to the peer before a batch with this reference; undefined when it has it, or nobody here does. What a peer
   * without a link has is not remembered.
   */
  takeFor(peerId: NodeId, ref: DelegationRef): Delegation | undefined {
    return this.#mark(ref, peerId) ? this.get(ref) : undefined
  }

  /** What was taken for a peer did not reach it. */
  notSent(peerId: NodeId, ref: DelegationRef): void {
    const [slot, set] = [this.#entries.get(ref)?.slot, this.#has.get(peerId)]
    if (slot !== undefined && set !== undefined) clearBit(set, slot)
  }

  /** The link is new: the peer has none. */
  linkOpened(peerId: NodeId): void {
    this.#has.set(peerId, noSlots)
  }

  linkClosed(peerId: NodeId): void {
    this.#has.delete(peerId)
  }

  /** False when it had it already. */
  #mark(ref: DelegationRef, peerId: NodeId): boolean {
    const slot = this.#entries.get(ref)?.slot
    if (slot === undefined) return false
    let set = this.#has.get(peerId)
    if (set === undefined) return true
    if (set === noSlots) this.#has.set(peerId, (set = new Uint32Array(this.#words)))
    const word = set[slot >>> 5] ?? 0
    const bit = 1 << (slot & 31)
    if ((word & bit) !== 0) return false
    set[slot >>> 5] = word | bit
    return true
  }

  #forget(ref: DelegationRef): void {
    const entry = this.#entries.get(ref)
    if (entry === undefined) return
    this.#entries.delete(ref)
    this.#decoded.delete(ref)
    this.#freeSlots.push(entry.slot)
    for (const set of this.#has.values()) clearBit(set, entry.slot)
  }
}

/** Of a peer that has not had any. Nothing is written to it, as it has no words. */
const noSlots = new Uint32Array()

function decoded({ encoded }: Entry): Delegation {
  return decodeDelegation(Uint8Array.from(encoded, (char) => char.charCodeAt(0)))
}

function clearBit(set: Uint32Array, bit: number): void {
  const word = bit >>> 5
  set[word] = (set[word] ?? 0) & ~(1 << (bit & 31))
}
