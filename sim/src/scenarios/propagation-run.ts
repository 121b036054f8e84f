import type { NodeId } from '@runnel/protocol'
import type { FloodDelays } from '@runnel/tracker'
import { meanDelayMs, meanDelayOfAllMs, shortestDelaysMs } from '../graphs/shortest-delays.ts'
import { meanOneWayFromMs } from '../latency/latency-model.ts'
import { mean } from '../measures/statistics.ts'
import { TraceHash } from '../measures/trace-hash.ts'
import { ChainPublisher } from '../world/chain-publisher.ts'
import { Formation, pick, type FormationOptions, type FormationWatch } from './formation.ts'
import { publishersOf } from './publishers.ts'

export interface PropagationOptions extends FormationOptions {
  /** Published by so many nodes, one after the other. */
  readonly messages: number
}

/** Virtual time between messages. They do not queue in the simulated network, so it changes nothing for them. */
const intervalMs = 1
/** Steps in which all messages are waited for, one more for duplicates, and the longest wait. */
const arrivingStepMs = 200
const maxArrivingMs = 60_000

/** Nodes from which estimates are made: all, up to the largest size of the thesis, and so many of more. */
const maxEstimateSources = 2048

export interface PropagationRun {
  /** Of every message at every node but its publisher. */
  readonly delaysMs: readonly number[]
  readonly hops: readonly number[]
  /** Deliveries that there should have been. */
  readonly expected: number
  /** By shortest ways over the round-trip times reported to the tracker, from all nodes to all others … */
  readonly estimatedMeanMs: number
  /** … and from the nodes that published only: what the measured mean should have been. */
  readonly estimatedMeanOfPublishersMs: number
  /** The same from all nodes over the links' true delays: what the tracker foretells. */
  readonly trueMeanMs: number
  /** What the tracker says of the stream part over HTTP; undefined when it says nothing. */
  readonly predicted: FloodDelays | undefined
  /** Mean one-way delay of the underlay from the nodes that published to all others, no processing included. */
  readonly directMeanMs: number
  /** Mean delay of what the first node sends, by its mean one-way delay to the others. */
  readonly rdpOfFirst: number
  /** Of the overlay that the tracker wants. */
  readonly minDegree: number
  readonly maxDegree: number
  /** Of what nodes have attached. */
  readonly minAttached: number
  readonly maxAttached: number
  readonly connected: boolean
  readonly duplicatesPerMessage: number
  readonly convergedAfterS: number | undefined
  readonly formationS: number
  readonly watched: FormationWatch
  readonly edgeChangesPerNode: number
  readonly traceHash: string
}

/** How long messages take through an overlay that has settled, and what the tracker would have said they take. */
export async function runPropagation(
  options: PropagationOptions,
  onProgress: (text: string) => void,
): Promise<PropagationRun> {
  const formation = await Formation.run(options, onProgress)
  const { world, nodes, wantedDegrees, attachedDegrees } = formation
  const sources = publishersOf(options.messages, options.model, world.random('publishers'))
  const [reported, real] = [formation.reportedDelays, formation.trueDelays]
  const everywhere = pick(nodes.length, maxEstimateSources, world.random('estimate sources'))
  const { convergedAfterS, formationS, edgeChangesPerNode, predicted, watched } = formation
  onProgress(`${sources.length} messages`)
  const flood = new FloodWatch(formation)
  const duplicatesBefore = duplicatesOf(formation)
  await publish(formation, sources, flood)
  const duplicates = duplicatesOf(formation) - duplicatesBefore
  for (const { node } of nodes) void node.stop()
  return {
    delaysMs: flood.delaysMs,
    hops: flood.hops,
    expected: sources.length * (nodes.length - 1),
    estimatedMeanMs: meanDelayOfAllMs(reported, everywhere),
    estimatedMeanOfPublishersMs: meanDelayMs(reported, sources),
    trueMeanMs: meanDelayOfAllMs(real, everywhere),
    predicted,
    directMeanMs: mean(sources.map((source) => meanOneWayFromMs(options.model, source))) ?? 0,
    rdpOfFirst: meanDelayMs(real, [0]) / meanOneWayFromMs(options.model, 0),
    minDegree: Math.min(...wantedDegrees),
    maxDegree: Math.max(...wantedDegrees),
    minAttached: Math.min(...attachedDegrees),
    maxAttached: Math.max(...attachedDegrees),
    connected: shortestDelaysMs(real, 0).every((delayMs) => delayMs < Infinity),
    duplicatesPerMessage: duplicates / (sources.length * (nodes.length - 1)),
    convergedAfterS,
    formationS,
    watched,
    edgeChangesPerNode,
    traceHash: flood.traceHash,
  }
}

/** Every message is the first of a chain of its own, so that none waits for another. */
async function publish(formation: Formation, sources: readonly number[], flood: FloodWatch): Promise<void> {
  const { world, nodes } = formation
  const { clock, crypto, streamPartId } = world
  const startMs = clock.monotonicMs()
  for (const [number, source] of sources.entries()) {
    await world.advanceTo(startMs + number * intervalMs)
    const identity = world.identity(`publisher ${number}`)
    const publisher = new ChainPublisher({ streamPartId }, { clock, crypto, identity })
    flood.published(identity.nodeId, source)
    nodes[source]?.node.publish(publisher.next())
  }
  const expected = sources.length * (nodes.length - 1)
  const lastMs = startMs + maxArrivingMs
  while (flood.delaysMs.length < expected && clock.monotonicMs() < lastMs)
    await world.advanceTo(clock.monotonicMs() + arrivingStepMs)
  await world.advanceTo(clock.monotonicMs() + arrivingStepMs)
}

function duplicatesOf({ nodes }: Formation): number {
  let sum = 0
  for (const { node } of nodes) for (const part of node.metrics().streamParts) sum += part.duplicates
  return sum
}

interface Flood {
  readonly publishedAtMs: number
  /** Hops from the publisher to each node it has reached; -1 for others. */
  readonly hops: Int16Array
}

/** Follows messages from node to node. */
class FloodWatch {
  readonly delaysMs: number[] = []
  readonly hops: number[] = []
  readonly #formation: Formation
  readonly #floods = new Map<NodeId, Flood>()
  readonly #trace = new TraceHash()

  constructor(formation: Formation) {
    this.#formation = formation
    formation.nodes.forEach(({ node }, index) =>
      node.on('message', ({ message, from }) => this.#arrived(index, message.publisherId, from)),
    )
  }

  /** Nothing may arrive afterwards. */
  get traceHash(): string {
    return this.#trace.digest()
  }

  published(publisherId: NodeId, source: number): void {
    const { world, nodes } = this.#formation
    const hops = new Int16Array(nodes.length).fill(-1)
    hops[source] = 0
    this.#floods.set(publisherId, { publishedAtMs: world.clock.monotonicMs(), hops })
  }

  #arrived(index: number, publisherId: NodeId, from: NodeId | undefined): void {
    const flood = this.#floods.get(publisherId)
    if (flood === undefined || from === undefined) return
    const sender = this.#formation.indexOf(from) ?? -1
    const hops = (flood.hops[sender] ?? -1) + 1
    flood.hops[index] = hops
    const atMs = this.#formation.world.clock.monotonicMs()
    this.hops.push(hops)
    this.delaysMs.push(atMs - flood.publishedAtMs)
    this.#trace.add(atMs, index, publisherId, sender)
  }
}
