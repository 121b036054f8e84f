import { circuitUrl, type Instruction, type NodeId, type Redirect, type StreamPartId } from '@runnel/protocol'
import { RealNode } from '../real-node.testkit.ts'
import type { Tracker } from '../create-tracker.ts'

/** What can be connected to. */
export interface AtTracker {
  readonly tracker: Pick<Tracker, 'nodeId' | 'url'>
}

/**
 * A node in one stream part that does what it is told, without links to its neighbours. It reaches no other tracker than the
 * one that it reports to: where that redirects it, it goes by a circuit.
 */
export class ObedientNode extends RealNode {
  readonly #streamPartId: StreamPartId
  #at: AtTracker | undefined
  /** The trackers of its circuit, the one that it is connected to last; empty without a circuit. */
  #path: readonly NodeId[] = []
  #counter = 0
  #told: (() => void)[] = []
  /** Those it was told, by the newest instruction. */
  neighbours: readonly NodeId[] = []
  /** Instructions that were new. */
  instructions = 0

  constructor(streamPartId: StreamPartId) {
    super()
    this.#streamPartId = streamPartId
    this.onReceived = (packet) => {
      if (packet.type === 'instruction' && packet.streamPartId === streamPartId) this.#obey(packet)
      if (packet.type === 'redirect') void this.#follow(packet)
    }
    this.onLost = () => {
      if (this.#path.length > 0) this.#goBack()
    }
  }

  /** Connects to a tracker and says where it stands. */
  async report(to: AtTracker): Promise<void> {
    this.#at = to
    this.#path = []
    await this.connect(to.tracker)
    this.#status()
  }

  /** Goes from the tracker it is at to another one, as nodes do. */
  async moveTo(to: AtTracker): Promise<void> {
    this.send({ type: 'leave', streamPartId: this.#streamPartId })
    await this.report(to)
  }

  /** Resolves when its neighbours, as told by the newest instruction, are as they should be. */
  async until(test: (neighbours: readonly NodeId[]) => boolean): Promise<void> {
    while (!test(this.neighbours)) await this.told()
  }

  /** Resolves with the next new instruction. */
  told(): Promise<void> {
    return new Promise((resolve) => this.#told.push(resolve))
  }

  hasNeighbours(count: number): Promise<void> {
    return this.until((neighbours) => neighbours.length === count)
  }

  async #follow({ leaderId }: Redirect): Promise<void> {
    const path = [...this.#path, leaderId]
    try {
      // No URL when its tracker stops at this moment.
      await this.connect({ nodeId: leaderId, url: circuitUrl(this.#at?.tracker.url ?? '', path) })
      this.#path = path
      this.#status()
    } catch {
      this.#goBack()
    }
  }

  /** The circuit is gone: who carried it leads now, or knows better. */
  #goBack(): void {
    if (this.#at !== undefined) this.report(this.#at).catch(() => {})
  }

  #obey({ counter, neighbours }: Instruction): void {
    if (counter <= this.#counter) return
    this.#counter = counter
    this.neighbours = neighbours.map(({ nodeId }) => nodeId)
    this.instructions++
    for (const resolve of this.#told.splice(0)) resolve()
    this.#status()
  }

  #status(): void {
    const neighbours = this.neighbours.map((nodeId) => ({ nodeId, rttMs: 1 }))
    const [streamPartId, counter] = [this.#streamPartId, this.#counter]
    this.send({ type: 'status', streamPartId, counter, neighbours, failed: [] })
  }
}

/** The edges both of whose ends have them. */
export function edgesOf(nodes: readonly ObedientNode[]): ReadonlySet<string> {
  const byId = new Map(nodes.map((node) => [node.nodeId, node]))
  const edges = nodes.flatMap((node) =>
    node.neighbours
      .filter((id) => node.nodeId < id && byId.get(id)?.neighbours.includes(node.nodeId))
      .map((id) => `${node.nodeId} ${id}`),
  )
  return new Set(edges)
}

/** Resolves when there are as many edges, all the nodes having as many neighbours as they should. */
export async function untilEdges(nodes: readonly ObedientNode[], count: number): Promise<void> {
  while (edgesOf(nodes).size !== count) await Promise.race(nodes.map((node) => node.told()))
}
