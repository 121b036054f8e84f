import type { RecordRow } from '@runnel/sim/records'
import { inParallel } from '../../session/in-parallel.ts'
import type { LinkOptions } from './link-plan.ts'

/** Fills in what has ended. The first failure ends what runs at the same time, and rejects when that has ended. */
export async function runAll(
  runs: readonly LinkOptions[],
  how: {
    readonly atOnce: number
    readonly ended: Map<LinkOptions, RecordRow>
    readonly signal: AbortSignal
  },
  work: (run: LinkOptions, signal: AbortSignal) => Promise<RecordRow>,
): Promise<void> {
  await inParallel(
    how.atOnce,
    runs,
    async (run, either) => {
      how.ended.set(run, await work(run, either))
    },
    how.signal,
  )
}
