// Prints how long overlays take to be whole again after nodes are lost at one instant, one line per overlay, loss and death:
//   node --conditions=runnel-src sim/src/scenarios/recovery-figures.testkit.ts NODES SEEDS [LATENCY] [OVERLAY…]
import { seededRandom } from '@runnel/protocol'
import type { OverlayStrategyName } from '@runnel/protocol'
import { createLatencyModel } from '../latency/latency-model.ts'
import { pick } from './formation.ts'
import { runRecovery } from './recovery.ts'

const [nodeCount = '256', seedCount = '20', latency = 'aws', ...named] = process.argv.slice(2)
const overlays: readonly OverlayStrategyName[] = (['random', 'topology-aware'] as const).filter(
  (overlay) => named.length === 0 || named.includes(overlay),
)
const nodes = Number(nodeCount)
/** Places of the table of AWS regions. */
const regions = 16
/** Of all nodes. */
const lostShare = 0.3

function lostNodes(loss: 'share' | 'region', seed: number): ReadonlySet<number> {
  if (loss === 'share')
    return new Set(pick(nodes, Math.round(lostShare * nodes), seededRandom(`lost ${seed}`)))
  return new Set(
    Array.from({ length: nodes }, (_, index) => index).filter((i) => i % regions === seed % regions),
  )
}

for (const overlay of overlays) {
  for (const loss of ['share', 'region'] as const) {
    for (const death of ['silent', 'closed'] as const) {
      const seconds: number[] = []
      let never = 0
      let sent = 0
      for (let seed = 0; seed < Number(seedCount); seed++) {
        const lost = lostNodes(loss, seed)
        const model = createLatencyModel({ latency, nodes, seed: String(seed) })
        const { recoveredAfterS, sentToTheLost } = await runRecovery({
          seed: String(seed),
          degree: 4,
          overlay,
          model,
          formingMs: overlay === 'random' ? 10_000 : 40_000,
          death,
          isLost: (index) => lost.has(index),
        })
        if (recoveredAfterS === null) never++
        else seconds.push(recoveredAfterS)
        sent += sentToTheLost / Number(seedCount)
      }
      seconds.sort((a, b) => a - b)
      console.log(
        JSON.stringify({
          nodes,
          overlay,
          latency,
          loss,
          death,
          seeds: Number(seedCount),
          never,
          medianS: seconds[Math.floor(seconds.length / 2)],
          longestS: seconds.at(-1),
          sentToTheLost: Math.round(sent),
        }),
      )
    }
  }
}
