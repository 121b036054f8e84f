import { rmSync } from 'node:fs'
import { emulationError } from '../errors.ts'
import { within } from '../media/within.ts'
import { openRunDirectory } from '../places/processes/run-directory.ts'
import { fillMachine, type FillPoint, type FillResult } from './fill-machine.ts'
import { fillBoundMs, type FillOptions } from './session-plan.ts'
import { startMachine, type Stops, type Whereabouts } from './start-machine.ts'

export interface FilledMachine extends FillResult {
  readonly leavesOut: string
  /** Users that joined, also those of a session that is not full. */
  readonly joined: number
  /** From the first session to the last measurement. */
  readonly elapsedS: number
}

/** Starts a network and a machine, and fills it with sessions. Ends within `fillBoundMs`; nothing is left of it. Rejects with TOO_SLOW, PROCESS_FAILED. */
export async function runFill(
  options: FillOptions,
  { where, signal: given }: { readonly where: Whereabouts; readonly signal: AbortSignal },
  onPoint: (point: FillPoint) => void,
): Promise<FilledMachine> {
  const directory = openRunDirectory()
  const dead = new AbortController()
  const onDeath = (how: string) => dead.abort(emulationError('PROCESS_FAILED', `the tracker ended: ${how}`))
  const stops: Stops = []
  try {
    return await within(fillBoundMs(options), AbortSignal.any([given, dead.signal]), async (signal) => {
      const machine = await startMachine({ fill: options, where, directory, signal, onDeath }, stops)
      const startMs = performance.now()
      const result = await fillMachine(machine, options, signal, onPoint)
      const elapsedS = Math.round((performance.now() - startMs) / 1_000)
      const { leavesOut, joined } = machine
      return { ...result, leavesOut, joined, elapsedS }
    })
  } finally {
    for (const stop of stops.toReversed()) await stop()
    rmSync(directory, { recursive: true, force: true })
  }
}
