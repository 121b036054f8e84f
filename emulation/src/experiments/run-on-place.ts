import type { RecordRow } from '@runnel/sim/records'
import type { Fleet, Place, PlaceFacts } from '../places/place.ts'
import { Session } from '../session/session.ts'
import type { Experiment, ExperimentOptions, Running } from './experiment.ts'

export interface RunOptions {
  readonly experiment: Experiment
  readonly options: Omit<ExperimentOptions, 'nodes'>
  /** Numbers of nodes, one after the other; undefined for that of the experiment. */
  readonly sizes: readonly (number | undefined)[]
  readonly signal: AbortSignal
}

export interface RunModules {
  readonly createPlace: () => Place
  readonly onProgress: (text: string) => void
}

export interface RunResults {
  readonly rows: readonly RecordRow[]
  /** Of the last place. */
  readonly facts: PlaceFacts
  readonly source: Place['source']
}

/** Runs an experiment with each number of nodes; each of its fleets has a place of its own, which is taken down whatever happens. */
export async function runOnPlace(run: RunOptions, modules: RunModules): Promise<RunResults> {
  const { experiment, options, sizes, signal } = run
  let facts: PlaceFacts = {}
  let source: Place['source'] = 'emulation'
  const onFleet = async <Result>(
    fleet: Fleet,
    work: (running: Running) => Promise<Result>,
  ): Promise<Result> => {
    const place = modules.createPlace()
    try {
      modules.onProgress(`${fleet.nodes} nodes start, ${fleet.links}, degree ${fleet.degree}`)
      const running = await runningOn(place, { fleet, signal })
      const result = await Promise.race([work(running), failureOf(place, signal)])
      source = place.source
      facts = { place: place.kind, ...(await place.facts()) }
      return result
    } finally {
      await place.stop()
    }
  }
  const rows: RecordRow[] = []
  for (const nodes of sizes)
    rows.push(...(await experiment.run({ ...options, nodes }, { onFleet, onProgress: modules.onProgress })))
  return { rows, facts, source }
}

async function runningOn(
  place: Place,
  { fleet, signal }: { readonly fleet: Fleet; readonly signal: AbortSignal },
): Promise<Running> {
  const hosts = await place.start(fleet, signal)
  const session = await Session.open(hosts, fleet.degree, signal)
  return {
    place,
    session,
    latency: place.latency,
    oneWayMs: (from, to) => {
      const [a, b] = [hosts.nodes[from], hosts.nodes[to]]
      return a === undefined || b === undefined ? undefined : place.delayMs(a, b)
    },
    restart: async (node) => {
      const host = hosts.nodes[node]
      if (host !== undefined) await place.restart(host, signal)
    },
  }
}

/** Rejects when the place fails or the user interrupts; otherwise it stays pending forever. */
function failureOf({ failed }: Place, signal: AbortSignal): Promise<never> {
  const either = failed === undefined ? signal : AbortSignal.any([signal, failed])
  return new Promise((_, reject) => {
    if (either.aborted) reject(either.reason)
    either.addEventListener('abort', () => reject(either.reason), { once: true })
  })
}
