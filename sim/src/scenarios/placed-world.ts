import type { NodeId } from '@runnel/protocol'
import type { Overlay } from '../experiments/experiment.ts'
import type { LatencyModel } from '../latency/latency-model.ts'
import { World } from '../world/world.ts'
import { processingMs } from './formation.ts'

/** All of a crowd join within this time. */
export const joiningMs = 10_000
/** Until something happens to it: random overlays are complete at once, others improve for a while. */
export const formingMs = { random: 15_000, 'topology-aware': 60_000, tree: 60_000 } as const satisfies Record<
  Overlay,
  number
>

export interface PlacedWorldOptions {
  readonly seed: string
  readonly degree: number
  readonly overlay: Overlay
  /** With places for all that ever join. */
  readonly model: LatencyModel
  /** See `WorldOptions`. */
  readonly thinFloods?: boolean | undefined
}

/** A world whose links lose nothing and have the delays of a model, between the places that nodes are given. */
export async function createPlacedWorld(
  { seed, degree, overlay, model, thinFloods = true }: PlacedWorldOptions,
  places: ReadonlyMap<NodeId, number>,
  onProgress: (text: string) => void,
): Promise<World> {
  const placeOf = (nodeId: NodeId): number => places.get(nodeId) ?? 0
  return World.create({
    ...{ seed, degree, overlay, thinFloods },
    ...{ jitterMs: 0, lossRate: () => 0 },
    onPassing: (second) => onProgress(`second ${second}`),
    latencyMs: (from, to) => model.oneWayMs(placeOf(from), placeOf(to)) + processingMs,
  })
}
