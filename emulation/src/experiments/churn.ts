import { round } from '@runnel/sim/statistics'
import type { RecordRow } from '@runnel/sim/records'
import { analyse } from '../session/analysis.ts'
import type { Experiment } from './experiment.ts'

const defaults = { nodes: 16, degree: 4, repeats: 5, messages: 400, links: 'mixed' } as const
const intervalMs = 50
const bytes = 64
const quietMs = 60_000
/** One node in so many publishes, and is not killed. */
const publisherEvery = 4

/** Nodes are killed and come back while others publish: every message must reach all nodes that were there all the time. */
export const churn: Experiment = {
  name: 'churn',
  describe: 'is anything lost when nodes are killed and come back? --repeats nodes are, one after the other',
  takes: [],
  columns: [
    'nodes',
    'links',
    'killed',
    'expected',
    'missing',
    'undelivered',
    'meanMs',
    'p99Ms',
    'repairedWithinMs',
  ],
  async run(options, { onFleet, onProgress }) {
    const { nodes = defaults.nodes, degree = defaults.degree, links = defaults.links, overlay } = options
    const { repeats: kills = defaults.repeats, messages = defaults.messages } = options
    return onFleet({ nodes, degree, links, overlay }, async ({ session, latency, restart }) => {
      await session.join()
      const publishers = session.everybody.filter((index) => index % publisherEvery === 0)
      const victims = session.everybody.filter((index) => index % publisherEvery !== 0).slice(0, kills)
      await session.publish(publishers, { messages, intervalMs, bytes })
      const repairedMs: number[] = []
      for (const [number, victim] of victims.entries()) {
        onProgress(`node ${victim} is killed, ${number + 1} of ${victims.length}`)
        const startedMs = performance.now()
        await restart(victim)
        await session.rejoin(victim)
        repairedMs.push(performance.now() - startedMs)
      }
      await session.published(0)
      const survivors = session.without(victims)
      const published = publishers.length * messages
      await survivors.delivered(published, quietMs)
      const { delaysMs, ...figures } = analyse(await survivors.collect(), { published })
      const repairedWithinMs = round(Math.max(0, ...repairedMs))
      const row: RecordRow = {
        nodes,
        degree,
        links,
        overlay,
        latency,
        killed: victims.length,
        repairedWithinMs,
        ...figures,
      }
      return [row]
    })
  },
}
