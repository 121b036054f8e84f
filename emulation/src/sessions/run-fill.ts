import { rmSync } from 'node:fs'
import { openRunDirectory } from '../places/processes/run-directory.ts'
import { emulationError } from '../errors.ts'
import { within } from '../media/within.ts'
import { fillMachine, type FillPoint, type FillResult } from './fill-machine.ts'
import { thisHost } from './session-host.ts'
import { startSessionNetwork } from './session-network.ts'
import { fillBoundMs, type FillOptions } from './session-plan.ts'
import { startMachine } from './start-machine.ts'

export interface FilledMachine extends FillResult {
  readonly leavesOut: string
  readonly elapsedS: number
}

/** Starts a network and a machine, and fills it with sessions. Ends within `fillBoundMs`; nothing is left of it. Rejects with TOO_SLOW, PROCESS_FAILED. */
export async function runFill(
  options: FillOptions,
  given: AbortSignal,
  onPoint: (point: FillPoint) => void,
): Promise<FilledMachine> {
  const directory = openRunDirectory()
  const dead = new AbortController()
  const onDeath = (how: string) => dead.abort(emulationError('PROCESS_FAILED', `the tracker ended: ${how}`))
  const stops: (() => unknown)[] = []
  try {
    return await within(fillBoundMs(options), AbortSignal.any([given, dead.signal]), async (signal) => {
      const place = { sessions: options.maxSessions, host: thisHost, directory }
      const network = await startSessionNetwork(place, { signal, onDeath })
      stops.push(() => network.stop())
      const { machine, stops: ends } = await startMachine(options, network)
      stops.push(...ends.toReversed())
      const startMs = performance.now()
      const result = await fillMachine(machine, options, signal, onPoint)
      return {
        ...result,
        leavesOut: machine.leavesOut,
        elapsedS: Math.round((performance.now() - startMs) / 1_000),
      }
    })
  } finally {
    for (const stop of stops.toReversed()) await stop()
    rmSync(directory, { recursive: true, force: true })
  }
}
