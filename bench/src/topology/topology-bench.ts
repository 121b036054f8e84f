import { seededRandom } from '@runnel/protocol'
import { OverlayTopology } from '@runnel/tracker'
import { beginPhase, showProgress } from '../phase.ts'
import { cpuUs, round } from '../statistics.ts'
import { ThesisTopology } from './thesis-topology.ts'

/** Joins of `nodes` nodes to one stream part: CPU and instructions per join, ours beside the thesis's algorithm with plain scans. */
export async function topologyBench({ nodes = 5000, degree = 4 } = {}) {
  const ids = Array.from({ length: nodes }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`)
  const topology = new OverlayTopology<string>({ degree }, { random: seededRandom('topology') })
  beginPhase('joins')
  const ours = await cost(ids, (id) => topology.add(id).size)
  beginPhase('leaves')
  const leaves = await cost(ids.slice(0, nodes / 2), (id) => topology.remove(id).size)
  // The baseline is O(n) a join: a tenth of the nodes is enough to see it, and its figure is for that many.
  const few = ids.slice(0, nodes / 10)
  const random = seededRandom('thesis')
  const thesis = new ThesisTopology(degree, () => random.next())
  beginPhase("joins by the thesis's algorithm")
  const baseline = await cost(few, (id) => thesis.add(id))
  const fewOurs = new OverlayTopology<string>({ degree }, { random: seededRandom('few') })
  beginPhase('joins of as many')
  const sameSize = await cost(few, (id) => fewOurs.add(id).size)
  return {
    bench: 'topology',
    nodes,
    degree,
    cpuMsPerJoin: round(ours.ms),
    cpuMsPerLeave: round(leaves.ms),
    instructionsPerJoin: round(ours.changed),
    baseline: {
      what: `the thesis's algorithm with plain scans, ${few.length} nodes`,
      cpuMsPerJoin: round(baseline.ms),
      instructionsPerJoin: round(baseline.changed),
      oursAtThatSizeMs: round(sameSize.ms),
    },
    ratio: round(sameSize.ms / baseline.ms),
  }
}

/** Lets the rest of the process have a turn now and then: its limit and an interrupt come to nothing otherwise. */
const turnEvery = 64

async function cost(ids: readonly string[], operation: (id: string) => number) {
  const startUs = cpuUs()
  let [changed, done] = [0, 0]
  showProgress(() => `${done} of ${ids.length} nodes`)
  for (const id of ids) {
    changed += operation(id)
    if (++done % turnEvery === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  return { ms: (cpuUs() - startUs) / 1000 / ids.length, changed: changed / ids.length }
}
