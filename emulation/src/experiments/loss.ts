import type { RecordRow } from '@runnel/sim/records'
import { linkKinds } from '../places/place.ts'
import { analyse } from '../session/analysis.ts'
import { sameEdges } from '../session/formed-overlay.ts'
import type { Session } from '../session/session.ts'
import type { Experiment } from './experiment.ts'
import { warmUp } from './publish-in-turns.ts'

/** Of figure 5.5: 16 nodes with a host each, 250 messages of each, 50 ms apart. */
const defaults = { nodes: 16, degree: 4, repeats: 1, messages: 250, warmUp: 5, dilation: 1 } as const
const intervalMs = 50
const bytes = 64
const lossPercents = [0, 0.1, 0.2, 0.5, 1, 2, 3, 4, 5]
/**
 * In slower time, before packets are lost: a link that was quick a moment ago takes a long way for one that loses, and
 * sends little for many round trips.
 */
const settleMessages = 40
/** Longer than the longest pause of a link that loses so much. */
const quietMs = 60_000

/** Mean delivery time by loss on each host's link: thesis, figure 5.5. */
export const loss: Experiment = {
  name: 'loss',
  describe:
    'how long do messages take when links lose packets? figure 5.5 of the thesis: 16 nodes, 0 to 5 % loss, all kinds of links unless --links',
  takes: ['warmUp', 'dilation', 'floods', 'losses'],
  columns: [
    ...['links', 'floods', 'lossPercent', 'repeat', 'meanMs', 'p50Ms', 'p99Ms', 'maxMs'],
    ...['expected', 'missing', 'undelivered', 'duplicatesPerMessage', 'overlayKept'],
  ],
  async run(options, { onFleet, onProgress }) {
    const { nodes = defaults.nodes, degree = defaults.degree, overlay } = options
    const { repeats = defaults.repeats, messages = defaults.messages } = options
    const { warmUp: messagesBefore = defaults.warmUp, dilation = defaults.dilation } = options
    const { floods: floodKinds = ['thin'], losses = lossPercents } = options
    const rows: RecordRow[] = []
    const turns = (options.links === undefined ? linkKinds : [options.links]).flatMap((links) =>
      Array.from({ length: repeats }, (_, repeat) =>
        floodKinds.map((floods) => ({ links, repeat, floods })),
      ).flat(),
    )
    for (const { links, repeat, floods } of turns)
      await onFleet({ nodes, degree, links, overlay, floods }, async ({ place, session, latency }) => {
        if (messagesBefore > 0) {
          // A run that does not count.
          await session.join()
          await warmUp(session, messagesBefore)
          await session.reset()
        }
        for (const lossPercent of place.kind === 'loopback' ? [0] : losses) {
          onProgress(`${links}, ${floods} floods, ${lossPercent} % loss, run ${repeat + 1} of ${repeats}`)
          // Nodes measure how long links are when these open.
          await place.dilate(dilation)
          // Overlays form undisturbed; it is their messages that are watched.
          const formed = await session.join()
          const settled = dilation === 1 ? 0 : settleMessages
          if (settled > 0) await publish(session, settled, dilation)
          const sinceMs = settled > 0 ? await session.pauseForClocks() : -Infinity
          await place.setLoss(lossPercent / 100)
          const isComplete = await publish(session, messages, dilation, settled)
          await place.setLoss(0)
          await place.dilate(1)
          const { delaysMs, ...figures } = analyse(await session.collect(), { sinceMs, dilation })
          const overlayKept = sameEdges(formed, await session.overlay())
          const run = { nodes, degree, links, floods, overlay, latency, lossPercent, repeat, dilation }
          rows.push({ ...run, isComplete, overlayKept, ...figures })
          await session.reset()
        }
      })
    return rows
  },
}

/** All nodes publish. True when every node has all of these messages, and so many earlier ones of each. */
async function publish(session: Session, messages: number, dilation: number, before = 0): Promise<boolean> {
  const pauseMs = intervalMs * dilation
  await session.publish(session.everybody, { messages, intervalMs: pauseMs, bytes })
  await session.published(messages * pauseMs)
  return session.delivered(session.nodes.length * (before + messages), quietMs * dilation)
}
