import type { Gap } from '@runnel/network'
import {
  compareRefs,
  placeBefore,
  placeOf,
  type MessageChain,
  type MessageRef,
  type StreamMessage,
  type WantedNeighbour,
} from '@runnel/protocol'
import type { BatchCheck } from './batch-check.ts'
import { FoundChain } from './found-chain.ts'
import type { BatchMerge, Candidate } from './merge.ts'
import type { OpenSources } from './open-sources.ts'
import type { PartSources } from './part-sources.ts'
import type { SignaturesAhead } from './signatures-ahead.ts'
import { StorageSource, type SourceModules } from './storage-source.ts'
import type { WantedRange } from './wanted-range.ts'

export interface GapEvents {
  /** Messages that are named by others and that no storage node has. */
  gap(gap: Gap): void
}

export interface HistoryGapsModules extends SourceModules {
  readonly check: BatchCheck
  readonly signatures: SignaturesAhead | undefined
  readonly merge: BatchMerge
  readonly sources: OpenSources
  readonly wanted: WantedRange
  readonly events: GapEvents
}

/** Of one gap, from all that were asked. */
interface FoundMessages {
  readonly chain: FoundChain
  /** By place. */
  readonly messages: Map<string, StreamMessage>
  /** Of all batches that came. */
  bytes: number
}

/** Fills gaps from storage nodes on standby when none of those being read can fill them; reports the rest. */
export class HistoryGaps {
  readonly #modules: HistoryGapsModules
  #fills = 0

  constructor(modules: HistoryGapsModules) {
    this.#modules = modules
  }

  /** The message names one before it that no source which is read has brought. */
  isBefore({ message: { previous }, after }: Candidate): boolean {
    return previous !== undefined && compareRefs(previous, after ?? this.#floor()) > 0
  }

  /** The messages between the candidate and the one taken before it, as far as a storage node that stands by has them. */
  async fillBefore({ message, after: taken }: Candidate): Promise<readonly StreamMessage[]> {
    const { merge, sources, limits } = this.#modules
    const { streamId, partition, publisherId, messageChainId, previous } = message
    const part = sources.part(partition)
    if (previous === undefined || part === undefined) return []
    let after = taken ?? this.#floor()
    const chain = { streamId, partition, publisherId, messageChainId }
    const upTo = placeOf(previous)
    const mayAsk = this.#fills++ < limits.maxGapFills
    const fillers = mayAsk ? await this.#askStandby(part, { chain, after, upTo }) : []
    // Nobody was asked, or not everybody: what is missing is not known.
    if (part.ending.aborted) return []
    for (const filler of fillers) {
      if (filler.previous !== undefined) this.#report(part, chain, after, filler.previous)
      after = placeOf(filler)
      merge.mark(filler)
    }
    this.#report(part, chain, after, upTo)
    return fillers
  }

  #floor(): MessageRef {
    return placeBefore(this.#modules.wanted.gapFloor)
  }

  #report({ streamPartId }: PartSources, chain: MessageChain, after: MessageRef, upTo: MessageRef): void {
    if (compareRefs(upTo, after) <= 0) return
    this.#modules.events.gap({ streamPartId, chain, after, upTo: placeOf(upTo) })
  }

  /** Asks the standby nodes, one after the other, until nothing is missing. In the order of the chain. */
  async #askStandby(part: PartSources, gap: Omit<Gap, 'streamPartId'>): Promise<readonly StreamMessage[]> {
    const found: FoundMessages = { chain: new FoundChain(gap), messages: new Map(), bytes: 0 }
    for (const peer of part.standby) {
      if (part.ending.aborted || found.chain.isWhole) break
      await this.#ask(peer, part, gap, found)
    }
    return [...found.messages.values()].sort(compareRefs)
  }

  /** Adds what a storage node has of a gap, in valid batches. */
  async #ask(
    peer: WantedNeighbour,
    part: PartSources,
    { chain, after, upTo }: Omit<Gap, 'streamPartId'>,
    found: FoundMessages,
  ): Promise<void> {
    const { check, signatures, limits } = this.#modules
    const { publisherId, messageChainId } = chain
    const request = {
      ...{ streamPartId: part.streamPartId, publisherId, messageChainId },
      selection: { kind: 'range', from: after, to: upTo },
      windowBytes: limits.minSourceWindowBytes,
    } as const
    const source = new StorageSource(request, peer, this.#modules)
    try {
      for await (const batch of source.batches(part.ending)) {
        found.bytes += batch.bytes.length
        const verdict = await check.check(batch, signatures)
        if (found.bytes > limits.maxExactLastBytes || verdict === 'forged') break
        if (verdict !== 'good') continue
        for (const message of found.chain.add(batch.messages))
          found.messages.set(`${message.timestamp} ${message.sequenceNumber}`, message)
      }
    } catch (error) {
      part.report(peer.nodeId, error)
    }
  }
}
