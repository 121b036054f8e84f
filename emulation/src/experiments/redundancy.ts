import type { RecordRow } from '@runnel/sim/records'
import { analyse } from '../session/analysis.ts'
import type { Experiment } from './experiment.ts'
import { quietMs } from './publish-in-turns.ts'

const defaults = { nodes: 16, links: 'webrtc', repeats: 1, messages: 1 } as const
/** Of figure 5.4. */
const degrees = [4, 6, 8, 10, 12, 14, 16]
const bytes = 64

/** Copies of a message that come for nothing, by degree: thesis, figure 5.4 (64 nodes). */
export const redundancy: Experiment = {
  name: 'redundancy',
  describe:
    'how many duplicates of a message does a node receive? figure 5.4 of the thesis (64 nodes); degrees 4 to 16 unless --degree',
  takes: ['repeats'],
  columns: ['nodes', 'degree', 'links', 'duplicatesPerMessage', 'meanMs', 'meanHops', 'expected', 'missing'],
  async run(options, { onFleet, onProgress }) {
    const { nodes = defaults.nodes, links = defaults.links, overlay, repeats = defaults.repeats } = options
    const messages = options.messages ?? defaults.messages
    const rows: RecordRow[] = []
    for (const degree of options.degree === undefined ? degrees : [options.degree]) {
      onProgress(`degree ${degree}`)
      await onFleet({ nodes, degree, links, overlay }, async ({ session, latency }) => {
        for (let repeat = 0; repeat < repeats; repeat++) {
          await session.join()
          // In turns, as in the thesis.
          for (let index = 0; index < nodes; index++)
            await session.publish([index], { messages, intervalMs: 0, bytes })
          await session.published(0)
          const published = nodes * messages
          await session.delivered(published, quietMs)
          const { delaysMs, ...figures } = analyse(await session.collect(), { published })
          rows.push({ nodes, degree, links, overlay, latency, repeat, ...figures })
          await session.reset()
        }
      })
    }
    return rows
  },
}
