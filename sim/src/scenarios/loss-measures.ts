import type { CountingArchive } from '../measures/counting-archive.ts'
import { fillTimes, gapCounts, type FillTimes, type GapCounts } from '../measures/gap-measures.ts'
import { round } from '../measures/statistics.ts'
import type { Subscriber } from '../measures/subscriber.ts'
import type { ChainPublisher } from '../world/chain-publisher.ts'
import type { SimNode } from '../world/world.ts'

/** A node of the scenario and its subscriber. */
export interface LossMember extends SimNode {
  readonly subscriber: Subscriber
}

/** A chain, and the node that floods it. */
export interface PublishedChain {
  readonly member: LossMember
  readonly publisher: ChainPublisher
}

/** Messages that one node misses. */
export interface MissingMessages {
  readonly node: string
  /** The node that published them. */
  readonly publisher: string
  readonly numbers: readonly number[]
}

export interface LossMeasures {
  /** Nodes that were there before the first message and at the end. */
  readonly survivors: number
  readonly published: number
  /** Messages that the survivors' applications should have been given, and were. */
  readonly expected: number
  readonly delivered: number
  readonly outOfOrder: number
  readonly duplicates: number
  /** Of the survivors. */
  readonly gaps: GapCounts
  readonly fillTimes: FillTimes
  /** Copies of a message received per message, by the nodes alive in the end. */
  readonly redundancy: number
  readonly archiveAsked: number
  readonly missing: readonly MissingMessages[]
}

export interface LossOutcome {
  readonly chains: readonly PublishedChain[]
  readonly survivors: readonly LossMember[]
  /** All that live. */
  readonly members: readonly LossMember[]
  readonly archive: CountingArchive
}

export function measureLoss({ chains, survivors, members, archive }: LossOutcome): LossMeasures {
  const read = survivors.flatMap((reader) =>
    chains
      .filter(({ member }) => member !== reader)
      .map(({ member, publisher }) => ({
        node: reader.name,
        publisher: member.name,
        count: publisher.count,
        ledger: reader.subscriber.ledger(publisher.publisherId),
      })),
  )
  return {
    survivors: survivors.length,
    published: sum(chains.map(({ publisher }) => publisher.count)),
    expected: sum(read.map(({ count }) => count)),
    delivered: sum(read.map(({ ledger }) => ledger.delivered)),
    outOfOrder: sum(read.map(({ ledger }) => ledger.outOfOrder)),
    duplicates: sum(read.map(({ ledger }) => ledger.duplicates)),
    gaps: gapCounts(survivors.map(({ node }) => node)),
    fillTimes: fillTimes(survivors.flatMap(({ subscriber }) => [...subscriber.watches])),
    redundancy: round(redundancy(members)),
    archiveAsked: archive.asked,
    missing: read
      .map(({ node, publisher, count, ledger }) => ({ node, publisher, numbers: ledger.missing(count) }))
      .filter(({ numbers }) => numbers.length > 0),
  }
}

function redundancy(members: readonly LossMember[]): number {
  const parts = members.flatMap(({ node }) => node.metrics().streamParts)
  const fresh = sum(parts.map(({ delivered, published }) => delivered - published))
  return 1 + sum(parts.map(({ duplicates }) => duplicates)) / fresh
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
