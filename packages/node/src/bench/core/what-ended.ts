import type { RampEnd } from './ramp.ts'
import type { Doubt } from './verdict.ts'

/** A process that uses more of a core than this has no more to give: nodes and trackers work in one thread. */
const busyNodeShare = 0.9

/** What of a run that failed its aims gave out first. A generator that was saturated says nothing of the network, so it comes first. */
export function whatEnded(report: {
  readonly doubts: readonly Doubt[]
  readonly processes: readonly { readonly cpuShare: number | undefined }[]
}): RampEnd {
  const has = (kind: Doubt['kind']) => report.doubts.some((doubt) => doubt.kind === kind)
  if (has('generator-saturated')) return 'generator'
  const isBusy = report.processes.some(({ cpuShare = 0 }) => cpuShare > busyNodeShare)
  return has('process-died') || isBusy ? 'node' : 'network'
}
