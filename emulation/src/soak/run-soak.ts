import { setTimeout as delay } from 'node:timers/promises'
import { openRunDirectory } from '../places/processes/run-directory.ts'
import { readSamples, seriesOf, type Series } from './samples.ts'
import { SoakNetwork, soakProcesses } from './soak-network.ts'
import { samplesFile } from './soak-process.ts'
import { SoakTabs } from './soak-tabs.ts'
import { rmSync } from 'node:fs'

export interface SoakOptions {
  readonly forMs: number
  readonly tabs: boolean
  readonly sampleEveryMs: number
  /** Between two nodes that go and come back; the tab is loaded again as often. */
  readonly churnEveryMs: number
}

/** Samples of an hour; of short runs about this many. */
const samples = 120
const minSampleEveryMs = 500
const maxSampleEveryMs = 15_000
const maxChurnEveryMs = 20_000

/** What suits a run of this length. */
export function soakOptions(forMs: number, tabs: boolean): SoakOptions {
  const sampleEveryMs = Math.min(maxSampleEveryMs, Math.max(minSampleEveryMs, Math.round(forMs / samples)))
  return { forMs, tabs, sampleEveryMs, churnEveryMs: Math.min(maxChurnEveryMs, forMs / 4) }
}

export interface SoakResult {
  readonly series: readonly Series[]
  /** How often a node was killed or stopped, and came back. */
  readonly comings: number
}

/** Runs a network with everything going on in it, and gives what its processes held. Rejects when one of them fails. */
export async function runSoak(
  options: SoakOptions,
  signal: AbortSignal,
  onProgress: (text: string) => void,
): Promise<SoakResult> {
  const directory = openRunDirectory()
  const death = new AbortController()
  const either = AbortSignal.any([signal, death.signal])
  const onDeath = (how: string): void => death.abort(new Error(how))
  const network = new SoakNetwork({ directory, sampleEveryMs: options.sampleEveryMs, onDeath })
  let tabs: SoakTabs | undefined
  try {
    await network.start(either)
    if (options.tabs) {
      tabs = new SoakTabs({ directory, network: network.document, streamId: network.streamId })
      await tabs.start()
    }
    const comings = await keepBusy({ options, network, tabs }, either, onProgress)
    const processes = [...soakProcesses, 'tab', 'delays']
    const series = processes.flatMap((name) => seriesOf(name, readSamples(samplesFile(directory, name))))
    return { series, comings }
  } finally {
    await tabs?.stop()
    await network.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Churn and samples of tabs until the time is over. Gives how often a node came back. */
async function keepBusy(
  soak: { readonly options: SoakOptions; readonly network: SoakNetwork; readonly tabs: SoakTabs | undefined },
  signal: AbortSignal,
  onProgress: (text: string) => void,
): Promise<number> {
  const { options, network, tabs } = soak
  const untilMs = performance.now() + options.forMs
  let comings = 0
  const repeat = async (everyMs: number, work: () => Promise<unknown>): Promise<void> => {
    while (performance.now() + everyMs <= untilMs) {
      await delay(everyMs, undefined, { signal })
      await work()
    }
  }
  await Promise.all([
    repeat(options.forMs / 10, async () => {
      onProgress(
        `${Math.round((untilMs - performance.now()) / 1_000)} s left, ${comings} times a node came back`,
      )
    }),
    repeat(options.churnEveryMs, async () => {
      await network.churn(signal)
      comings++
    }),
    repeat(options.churnEveryMs, async () => tabs?.reload()),
    repeat(options.sampleEveryMs, async () => tabs?.sample()),
  ])
  return comings
}
