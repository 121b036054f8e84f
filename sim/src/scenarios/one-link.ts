import type { NodeId } from '@runnel/protocol'
import { CountingArchive } from '../measures/counting-archive.ts'
import { fillTimes, gapCounts, type FillTimes, type GapCounts } from '../measures/gap-measures.ts'
import { Subscriber } from '../measures/subscriber.ts'
import { ChainPublisher } from '../world/chain-publisher.ts'
import { World, type SimNode } from '../world/world.ts'

export interface OneLinkOptions {
  readonly seed: string
  /** With 2, the publisher is the subscriber's only neighbour. */
  readonly nodes: number
  readonly degree: number
  readonly messages: number
  readonly rate: number
  /** The part of frames that vanish in either direction of the one link. */
  readonly lossRate: number
  /** One-way latency of every link. */
  readonly latencyMs: number
}

export const oneLinkDefaults: Omit<OneLinkOptions, 'seed'> = {
  nodes: 20,
  degree: 4,
  messages: 3000,
  rate: 50,
  lossRate: 0.2,
  latencyMs: 25,
}

/** Until the nodes have found each other, and after the last message. */
const formingMs = 20_000
const settlingMs = 20_000

export interface OneLinkReport {
  readonly seed: string
  readonly nodes: number
  readonly expected: number
  readonly delivered: number
  readonly outOfOrder: number
  readonly duplicates: number
  readonly gaps: GapCounts
  readonly fillTimes: FillTimes
  /** 3 × RTT + 50 ms. */
  readonly boundMs: number
  readonly archiveAsked: number
}

/** The link from a publisher to one of its neighbours loses frames, and no other does. How soon does that neighbour have what was lost? */
export async function runOneLink(
  options: OneLinkOptions,
  onProgress: (text: string) => void = () => {},
): Promise<OneLinkReport> {
  const { seed, nodes, degree, messages, rate, lossRate, latencyMs } = options
  const lossy = new Set<NodeId>()
  const world = await World.create({
    seed,
    degree,
    latencyMs: () => latencyMs,
    jitterMs: 0,
    lossRate: (from, to) => (lossy.has(from) && lossy.has(to) ? lossRate : 0),
    onPassing: (second) => onProgress(`seed ${seed}, ${nodes} nodes: second ${second}`),
  })
  const { clock, crypto, streamPartId } = world
  const archive = new CountingArchive()
  const all: SimNode[] = []
  for (let i = 0; i < nodes; i++) all.push(await world.addNode(`node ${i}`, archive))
  await world.advanceTo(formingMs)

  const [source, reader] = pickLink(all)
  const subscriber = new Subscriber(
    { streamPartId },
    { node: reader.node, nowMs: () => clock.monotonicMs(), onDelivered: () => {} },
  )
  lossy.add(source.nodeId).add(reader.nodeId)
  const identity = world.identity('publisher')
  const publisher = new ChainPublisher({ streamPartId }, { clock, crypto, identity })
  for (let i = 0; i < messages; i++) {
    await world.advanceTo(formingMs + (i * 1000) / rate)
    source.node.publish(publisher.next())
  }
  await world.advanceTo(clock.monotonicMs() + settlingMs)
  const ledger = subscriber.ledger(publisher.publisherId)
  return {
    seed,
    nodes,
    expected: messages,
    delivered: ledger.delivered,
    outOfOrder: ledger.outOfOrder,
    duplicates: ledger.duplicates,
    gaps: gapCounts([reader.node]),
    fillTimes: fillTimes([...subscriber.watches]),
    boundMs: 3 * 2 * latencyMs + 50,
    archiveAsked: archive.asked,
  }
}

/** The first node, and the first of its neighbours. */
function pickLink(all: readonly SimNode[]): readonly [SimNode, SimNode] {
  const [source] = all
  const neighbour = source?.node.metrics().streamParts[0]?.neighbours[0]
  const reader = all.find(({ nodeId }) => nodeId === neighbour?.nodeId)
  if (source === undefined || reader === undefined) throw new Error('the nodes are not connected')
  return [source, reader]
}
