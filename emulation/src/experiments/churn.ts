import { round } from '@runnel/sim/statistics'
import type { RecordRow } from '@runnel/sim/records'
import { maxMeasuredMessages } from '../../../packages/node/src/control/measurement-log.ts'
import { analyse } from '../session/analysis.ts'
import type { Experiment } from './experiment.ts'
import { killWhilePublishing } from './kill-while-publishing.ts'

/** A silent death is noticed after 12 s, and the overlay is whole again after up to 30 s: each kill has half a minute of messages. */
const defaults = { nodes: 16, degree: 4, repeats: 5, messages: 3_000, links: 'mixed' } as const
const intervalMs = 50
const bytes = 64
const quietMs = 60_000
/** One node in so many may publish, and is not killed. */
const publisherEvery = 4

/** Every fourth node, but no more than nodes can remember the messages of; `messages` is of each. */
export function publishersOf(everybody: readonly number[], messages: number): number[] {
  const most = Math.max(1, Math.floor(maxMeasuredMessages / messages))
  return everybody.filter((index) => index % publisherEvery === 0).slice(0, most)
}

/**
 * Nodes are killed and come back while others publish: every message must reach all nodes that were there all the time. Only
 * kills before the last message are made, and `killed` says how many of `killsPlanned` these were.
 */
export const churn: Experiment = {
  name: 'churn',
  describe: `is anything lost when nodes are killed and come back? --repeats nodes are, one after the other, spread over the time in which --messages are published, 50 ms apart, by every fourth node (together ${maxMeasuredMessages.toLocaleString('en')} messages at most)`,
  takes: ['repeats'],
  columns: [
    'nodes',
    'links',
    'killed',
    'killsPlanned',
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
      const publishers = publishersOf(session.everybody, messages)
      const victims = session.everybody.filter((index) => index % publisherEvery !== 0).slice(0, kills)
      await session.publish(publishers, { messages, intervalMs, bytes })
      const repairedMs: number[] = []
      const killed = await killWhilePublishing(
        { victims, publishingMs: (messages - 1) * intervalMs },
        {
          now: () => performance.now(),
          pause: (ms) => session.pass(ms),
          isPublishing: () => session.isPublishing(publishers),
          kill: async (victim) => {
            onProgress(`node ${victim} is killed`)
            const startedMs = performance.now()
            await restart(victim)
            await session.rejoin(victim)
            repairedMs.push(performance.now() - startedMs)
          },
        },
      )
      await session.published(0)
      const survivors = session.without(killed)
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
        killed: killed.length,
        killsPlanned: victims.length,
        repairedWithinMs,
        ...figures,
      }
      return [row]
    })
  },
}
