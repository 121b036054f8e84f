import type { NodeId, OverlayStrategyName, Random } from '@runnel/protocol'
import type { OverlayStrategy, OverlayStrategyModules } from './strategies/overlay-strategy.ts'
import { createStrategy } from './strategies/strategies.ts'

/** The settings of an overlay. */
export interface OverlayKind {
  readonly strategy: OverlayStrategyName
  /** Neighbours per node. */
  readonly degree: number
}

export interface OverlayModules extends Omit<OverlayStrategyModules<NodeId>, 'random'> {
  readonly random: Random
}

/** The wanted edges of one overlay, by the strategy chosen last. */
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
   * Changes the strategy or degree; edges stay as far as the new strategy has a use for them. Returns the nodes whose
   * neighbours change; undefined when nothing was changed.
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
    // The new strategy does not report the edges that it left out.
    for (const [a, b] of before.edges()) if (!this.#topology.hasEdge(a, b)) changed.add(a).add(b)
    return changed
  }
}
