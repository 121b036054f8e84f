import { round } from '@runnel/sim/statistics'
import type { RecordRow } from '@runnel/sim/records'
import { linkKinds, type PlaceKind } from '../places/place.ts'
import type { Experiment, ExperimentOptions } from './experiment.ts'
import { fleetMs } from './longest.ts'
import { LossRuns, lossRunMs } from './loss-runs.ts'
import { warmUp, warmUpMs } from './publish-in-turns.ts'
import { simulatedMeanMs } from './simulated-mean.ts'

/** Of figure 5.5: 16 nodes with a host each, 250 messages of each, 50 ms apart. */
const defaults = { nodes: 16, degree: 4, repeats: 1, messages: 250, warmUp: 5, dilation: 1 } as const
const lossPercents = [0, 0.1, 0.2, 0.5, 1, 2, 3, 4, 5]

/** Mean delivery time by loss on each host's link: thesis, figure 5.5; with `fixed` the wider run of its section 5.3.2. */
export const loss: Experiment = {
  name: 'loss',
  describe:
    'how long do messages take when links lose packets? figure 5.5 of the thesis: 16 nodes, 0 to 5 % loss, all kinds of links unless --links; with --fixed in one overlay',
  takes: ['repeats', 'warmUp', 'dilation', 'floods', 'losses', 'fixed'],
  columns: [
    ...['links', 'floods', 'lossPercent', 'repeat', 'meanMs', 'p50Ms', 'p95Ms', 'p99Ms', 'maxMs'],
    ...['simulatedMeanMs', 'expected', 'missing', 'undelivered', 'duplicatesPerMessage', 'overlayKept'],
  ],
  longestMs(options, place) {
    const { nodes = defaults.nodes, dilation = defaults.dilation } = options
    const { warmUp: messagesBefore = defaults.warmUp, messages = defaults.messages } = options
    const percents = percentsOf(options, place).length
    return turnsOf(options).reduce((sum, { ofFleet }) => {
      const runs = ofFleet.length * percents
      const overlays = (options.fixed === true ? 1 : runs) + (messagesBefore > 0 ? 1 : 0)
      const messagesMs = warmUpMs(nodes, messagesBefore) + runs * lossRunMs(messages)
      return sum + fleetMs({ nodes, dilation, overlays, runs, messagesMs })
    }, 0)
  },
  async run(options, { onFleet, onProgress }) {
    const { nodes = defaults.nodes, degree = defaults.degree, overlay } = options
    const { repeats = defaults.repeats, messages = defaults.messages } = options
    const { warmUp: messagesBefore = defaults.warmUp, dilation = defaults.dilation } = options
    const { fixed = false } = options
    const rows: RecordRow[] = []
    for (const { links, ofFleet, floods } of turnsOf(options))
      await onFleet({ nodes, degree, links, overlay, floods, dilation }, async (running) => {
        const { place, session, latency } = running
        if (messagesBefore > 0) {
          // A run that does not count.
          await session.join()
          await warmUp(session, messagesBefore)
          await session.reset()
        }
        const points = ofFleet.flatMap((repeat) =>
          percentsOf(options, place.kind).map((lossPercent) => ({ repeat, lossPercent })),
        )
        const runs = new LossRuns({ messages, fixed }, { place, session })
        for (const { repeat, lossPercent } of points) {
          onProgress(`${links}, ${floods} floods, ${lossPercent} % loss, run ${repeat + 1} of ${repeats}`)
          const { formed, ...figures } = await runs.run(lossPercent)
          const simulatedMs = await simulatedMeanMs(running, formed)
          // Overlays differ by more than a little loss makes.
          const withoutLoss = { simulatedMeanMs: simulatedMs === undefined ? null : round(simulatedMs) }
          const run = { nodes, degree, links, floods, overlay, latency, lossPercent, repeat, dilation, fixed }
          rows.push({ ...run, ...withoutLoss, ...figures })
        }
      })
    return rows
  },
}

/** Fleets, one after the other. One overlay is of one fleet. Kinds of floods, which are options of processes, take turns. */
function turnsOf({
  repeats = defaults.repeats,
  links: given,
  floods: kinds = ['thin'],
  fixed,
}: ExperimentOptions) {
  const numbers = Array.from({ length: repeats }, (_, repeat) => repeat)
  const fleets = fixed === true || kinds.length === 1 ? [numbers] : numbers.map((repeat) => [repeat])
  return (given === undefined ? linkKinds : [given]).flatMap((links) =>
    fleets.flatMap((ofFleet) => kinds.map((floods) => ({ links, ofFleet, floods }))),
  )
}

function percentsOf({ losses = lossPercents }: ExperimentOptions, place: PlaceKind): readonly number[] {
  return place === 'loopback' ? [0] : losses
}
