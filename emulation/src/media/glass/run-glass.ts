import { rmSync } from 'node:fs'
import { loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { untilAborted } from '@runnel/protocol'
import type { RecordRow } from '@runnel/sim/records'
import { mean, round } from '@runnel/sim/statistics'
import { openRunDirectory } from '../../places/processes/run-directory.ts'
import type { Underlay } from '../../underlay/underlay.ts'
import { glassFigures } from './glass-figures.ts'
import { GlassNetwork } from './glass-network.ts'
import { GlassPages } from './glass-pages.ts'
import { warmUpMs, type GlassOptions } from './glass-plan.ts'
import { rendition } from './page/rendition.ts'

/** Runs one room of pages and gives what came of it. Rejects with PROCESS_FAILED and what the link emulator rejects with. */
export async function runGlass(
  options: GlassOptions,
  underlay: Underlay,
  signal: AbortSignal,
): Promise<RecordRow> {
  const directory = openRunDirectory()
  const network = new GlassNetwork(options, underlay, directory)
  const { arm, watching, lossPercent, measureMs } = options
  try {
    const way = await network.start(signal)
    const either = AbortSignal.any([signal, network.failed])
    const pages = new GlassPages(await untilAborted(network.openPages(), either))
    await untilAborted(pages.begin(way), either)
    await network.setLoss(lossPercent / 100)
    await delay(warmUpMs, undefined, { signal: either })
    await untilAborted(pages.measure(), either)
    const fromMs = Date.now()
    await delay(measureMs, undefined, { signal: either })
    const window = { fromMs, untilMs: Date.now() }
    const machineLoad = Math.round((loadavg()[0] ?? 0) * 10) / 10
    const records = await untilAborted(pages.records(), either)
    return {
      ...{ arm, watching, lossPercent, seconds: measureMs / 1_000, machineLoad },
      ...underlayDelays(options, underlay),
      ...glassFigures(records, window, rendition.framerate),
    }
  } finally {
    await network.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** What the links alone take from the page that publishes to those that watch, directly and by the relay: the mean. */
function underlayDelays({ sites, relaySite, watching }: GlassOptions, underlay: Underlay) {
  const siteOf = (number: number): string => sites[number % sites.length] ?? ''
  const readers = Array.from({ length: watching }, (_, i) => siteOf(i + 1))
  const toRelayMs = underlay.delayMs(siteOf(0), relaySite)
  return {
    networkMs: round(mean(readers.map((site) => underlay.delayMs(siteOf(0), site))) ?? 0),
    networkByRelayMs: round(mean(readers.map((site) => toRelayMs + underlay.delayMs(relaySite, site))) ?? 0),
  }
}
