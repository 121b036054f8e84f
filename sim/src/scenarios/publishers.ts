import type { Random } from '@runnel/protocol'
import type { LatencyModel } from '../latency/latency-model.ts'
import { pick } from './formation.ts'

/**
 * Who publishes so many messages, one each: nodes drawn at random, every region of the model in turn, so that regions have
 * equal shares. Nobody does so once more before all have.
 */
export function publishersOf(messages: number, model: LatencyModel, random: Random): number[] {
  const drawn = pick(model.nodes, model.nodes, random)
  const byRegion = [...Map.groupBy(drawn, (node) => model.regionOf?.(node)).values()]
  const longest = Math.max(...byRegion.map(({ length }) => length))
  const inTurn = Array.from({ length: longest }, (_, turn) =>
    byRegion.flatMap((nodes) => nodes.slice(turn, turn + 1)),
  ).flat()
  return Array.from({ length: messages }, (_, i) => inTurn[i % inTurn.length] ?? 0)
}
