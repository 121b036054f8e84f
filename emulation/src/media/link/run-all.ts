import type { RecordRow } from '@runnel/sim/records'
import { inParallel } from '../../session/in-parallel.ts'
import type { LinkOptions } from './link-plan.ts'

/** Fills in what has ended. The first failure rejects, and ends what runs at the same time. */
export async function runAll(
  runs: readonly LinkOptions[],
  how: {
    readonly atOnce: number
    readonly ended: Map<LinkOptions, RecordRow>
    readonly signal: AbortSignal
  },
  work: (run: LinkOptions, signal: AbortSignal) => Promise<RecordRow>,
): Promise<void> {
  const failed = new AbortController()
  const either = AbortSignal.any([how.signal, failed.signal])
  await inParallel(how.atOnce, runs, async (run) => {
    try {
      how.ended.set(run, await work(run, either))
    } catch (error) {
      failed.abort(error)
      throw error
    }
  })
}
