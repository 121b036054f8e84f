import { Distances } from '../coordinates/distances.ts'
import { OverlayTopology } from '../topology/overlay-topology.ts'
import type { OverlayStrategy, OverlayStrategyModules } from './overlay-strategy.ts'

/**
 * A random overlay in which some edges are exchanged for nearer ones, by round-trip times
 * (docs/decisions/009-topology-aware.md).
 */
export class TopologyAwareOverlay<Id extends string>
  extends OverlayTopology<Id>
  implements OverlayStrategy<Id>
{
  readonly #distances: Distances<Id>

  constructor(degree: number, modules: OverlayStrategyModules<Id>) {
    super({ degree }, modules)
    this.#distances = new Distances(modules, { random: modules.random.fork('coordinates') })
  }

  override get improves(): boolean {
    return true
  }

  override failEdge(a: Id, b: Id): ReadonlySet<Id> {
    this.#distances.failed(a, b)
    return super.failEdge(a, b)
  }

  override adopt(edges: Iterable<readonly [Id, Id]>): ReadonlySet<Id> {
    const known = [...edges]
    const changed = super.adopt(known, (a, b) => this.#distances.measuredMs(a, b))
    for (const [a, b] of known) this.#distances.takenOver(a, b)
    return changed
  }

  override report(id: Id, rttsMs: ReadonlyMap<Id, number>): number {
    return this.#distances.report(id, rttsMs)
  }

  override forget(id: Id): void {
    this.#distances.delete(id)
  }

  override improve(id: Id, mayChange: (id: Id) => boolean): ReturnType<OverlayStrategy<Id>['improve']> {
    this.#distances.learn(id)
    return this.exchange(id, { distanceMs: (a, b) => this.#distances.estimateMs(a, b), mayChange })
  }
}
