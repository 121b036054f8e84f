import type { NodeId, OverlayStrategyName, Random } from '@runnel/protocol'
import type { OverlayStrategy, OverlayStrategyModules } from './strategies/overlay-strategy.ts'
import { createStrategy } from './strategies/strategies.ts'

/** What an overlay is made of. */
export interface OverlayKind {
  readonly strategy: OverlayStrategyName
  /** Neighbours per node. */
  readonly degree: number
}

export interface OverlayModules extends Omit<OverlayStrategyModules<NodeId>, 'random'> {
  readonly random: Random
}

/** The edges wanted in one overlay, by the strategy that was chosen for it last. */
export class Overlay {
  readonly #modules: OverlayModules
  #kind: OverlayKind
  #topology: OverlayStrategy<NodeId>

  constructor(kind: OverlayKind, modules: OverlayModules) {
    this.#modules = modules
    this.#kind = kind
    this.#topology = createStrategy(kind, modules)
  }

  get kind(): OverlayKind {
    return this.#kind
  }

  get topology(): OverlayStrategy<NodeId> {
    return this.#topology
  }

  /**
   * Another strategy or degree from now on; edges stay as far as it has a use for them. Who has other neighbours by that;
   * undefined when that was the choice before.
   */
  choose(
    kind: OverlayKind,
    measured: Iterable<readonly [NodeId, ReadonlyMap<NodeId, number>]>,
  ): ReadonlySet<NodeId> | undefined {
    if (kind.strategy === this.#kind.strategy && kind.degree === this.#kind.degree) return undefined
    const before = this.#topology
    this.#kind = kind
    this.#topology = createStrategy(kind, this.#modules)
    for (const [nodeId, rttsMs] of measured) this.#topology.report(nodeId, rttsMs)
    const changed = new Set(this.#topology.adopt(before.edges()))
    for (const nodeId of before.nodes()) for (const id of this.#topology.add(nodeId)) changed.add(id)
    // Edges that the new one left out are not seen by it.
    for (const [a, b] of before.edges()) if (!this.#topology.hasEdge(a, b)) changed.add(a).add(b)
    return changed
  }
}
