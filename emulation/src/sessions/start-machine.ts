import { availableParallelism } from 'node:os'
import { startDisplay } from './display.ts'
import { LightMachine } from './light-machine.ts'
import type { Machine } from './machine.ts'
import { PageMachine } from './page-machine.ts'
import { serveMember } from './page/serve-member.ts'
import { thisHost } from './session-host.ts'
import type { SessionNetwork } from './session-network.ts'
import type { FillOptions } from './session-plan.ts'
import { startWorkers } from './worker-processes.ts'

/** What is stopped with a machine, in this order. */
export interface StartedMachine {
  readonly machine: Machine
  readonly stops: readonly (() => unknown)[]
}

/** A machine of this host with users of an arm, and none of them yet. Throws PROCESS_FAILED, DISPLAY_MISSING. */
export async function startMachine(
  { arm, limits }: Pick<FillOptions, 'arm' | 'limits'>,
  network: SessionNetwork,
): Promise<StartedMachine> {
  if (arm === 'light-websocket' || arm === 'light-webrtc') {
    const links = arm === 'light-webrtc' ? 'webrtc' : 'websocket'
    const workers = await startWorkers(thisHost, availableParallelism())
    const { places, token } = workers
    const machine = new LightMachine({ workers: places, token, links, network, address: thisHost.address })
    return { machine, stops: [() => machine.stop(), () => workers.stop()] }
  }
  const display = arm === 'headless' ? undefined : await startDisplay()
  const { url, stop } = await serveMember()
  const machine = new PageMachine({
    ...{ url, network, display: display?.name, joinMs: limits.joinMs },
    isRecording: arm === 'browser-recording',
  })
  return { machine, stops: [() => machine.stop(), stop, () => display?.stop()] }
}
