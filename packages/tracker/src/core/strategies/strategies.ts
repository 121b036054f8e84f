import type { NodeId, OverlayStrategyName } from '@runnel/protocol'
import { OverlayTopology } from '../topology/overlay-topology.ts'
import type { OverlayStrategy, OverlayStrategyModules } from './overlay-strategy.ts'
import { TopologyAwareOverlay } from './topology-aware-overlay.ts'
import { TreeOverlay } from './tree/tree-overlay.ts'

type CreateStrategy = (degree: number, modules: OverlayStrategyModules<NodeId>) => OverlayStrategy<NodeId>

/** Every strategy that metadata, options and the command line can name. */
const strategies: Readonly<Record<OverlayStrategyName, CreateStrategy>> = {
  random: (degree, modules) => new OverlayTopology({ degree }, modules),
  'topology-aware': (degree, modules) => new TopologyAwareOverlay(degree, modules),
  tree: (degree, modules) => new TreeOverlay(degree, modules),
}

export function createStrategy(
  { strategy, degree }: { readonly strategy: OverlayStrategyName; readonly degree: number },
  modules: OverlayStrategyModules<NodeId>,
): OverlayStrategy<NodeId> {
  return strategies[strategy](degree, modules)
}
