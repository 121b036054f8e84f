import type { StreamPartId } from '@runnel/protocol'
import type { FuzzNode } from './fuzz-node.ts'
import { oneOf } from './fuzz-plan.ts'
import type { FuzzWorld } from './fuzz-world.ts'

/** An honest node that comes has a neighbour, and messages, after this. */
const getsInMs = 5_000
const publishEveryMs = 500

interface Newcomer {
  readonly node: FuzzNode
  readonly id: StreamPartId
  readonly dueMs: number
}

/**
 * Honest nodes that come during an attack: one joins a populated stream part, two an empty one, and one opens a direct link to
 * another node, as a resend does.
 */
export class Newcomers {
  readonly #fuzz: FuzzWorld
  readonly #add: (id: StreamPartId) => Promise<FuzzNode>
  #waiting: Newcomer[] = []
  #published = 0

  constructor(fuzz: FuzzWorld, add: (id: StreamPartId) => Promise<FuzzNode>) {
    this.#fuzz = fuzz
    this.#add = add
  }

  async come(): Promise<void> {
    const { busyParts, freshParts, random } = this.#fuzz
    await this.#connect()
    const [busy, fresh] = [oneOf(busyParts, random), oneOf(freshParts, random)]
    if (busy !== undefined) {
      const [old] = [...this.#fuzz.nodes.values()].filter((node) => node.isIn(busy))
      await this.#expect(busy)
      if (old !== undefined) this.#publish(old, busy)
    }
    if (fresh === undefined) return
    const publisher = await this.#add(fresh)
    await this.#expect(fresh)
    this.#publish(publisher, fresh)
  }

  /** Nodes that were due must be in by now. */
  check(): void {
    const { nowMs, breaches } = this.#fuzz
    for (const { node, id, dueMs } of this.#waiting)
      if (dueMs <= nowMs && node.taken(id) === 0 && !this.#isSurrounded(node, id))
        breaches.report('newcomers', `${node.nodeId} got no message in ${id} within ${getsInMs} ms`)
    this.#waiting = this.#waiting.filter(({ dueMs }) => dueMs > nowMs)
  }

  /**
   * In so small a world chance may give it attackers only as neighbours, which pass nothing on; then it is not promised any
   * messages.
   */
  #isSurrounded(node: FuzzNode, id: StreamPartId): boolean {
    const neighbours = [...node.neighbours(id)]
    return neighbours.length > 0 && !neighbours.some((peerId) => this.#fuzz.nodes.has(peerId))
  }

  async #connect(): Promise<void> {
    const { breaches, nodes, world, busyParts } = this.#fuzz
    const [host] = nodes.values()
    const [streamPartId] = busyParts
    const { sim } = await this.#fuzz.addNode()
    if (host === undefined || streamPartId === undefined) return
    const { nodeId, contact } = host.sim.node
    let isLinked = false
    // It may be open at this end, and be refused at the other.
    sim.node.on('linkClosed', (peerId) => {
      if (peerId === nodeId) isLinked = false
    })
    sim.node.connect({ nodeId, contact }, { streamPartId }).then(
      () => (isLinked = true),
      () => {},
    )
    world.clock.schedule(getsInMs, () => {
      if (!isLinked)
        breaches.report('newcomers', `${sim.nodeId} has no link to ${nodeId} after ${getsInMs} ms`)
    })
  }

  async #expect(id: StreamPartId): Promise<void> {
    const node = await this.#add(id)
    this.#waiting.push({ node, id, dueMs: this.#fuzz.nowMs + getsInMs })
  }

  /** For as long as they are waited for, by a publisher that is as new as they are. */
  #publish(node: FuzzNode, id: StreamPartId): void {
    const { world, nodes, nowMs } = this.#fuzz
    const chain = ++this.#published
    const untilMs = nowMs + getsInMs
    const next = (): void => {
      if (!nodes.has(node.nodeId) || this.#fuzz.nowMs > untilMs) return
      this.#fuzz.publish(node, id, chain, 1)
      world.clock.schedule(publishEveryMs, next)
    }
    next()
  }
}
