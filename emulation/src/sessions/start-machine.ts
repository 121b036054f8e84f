import { availableParallelism } from 'node:os'
import { startDisplay } from './display.ts'
import { LightMachine } from './light-machine.ts'
import type { Machine } from './machine.ts'
import { PageMachine } from './page-machine.ts'
import { serveMember } from './page/serve-member.ts'
import { startHosts, thisHost, type SessionHost } from './session-host.ts'
import { startSessionNetwork, type SessionNetwork } from './session-network.ts'
import { isLight, type FillOptions } from './session-plan.ts'
import { SeveralMachines } from './several-machines.ts'
import { startWorkers } from './worker-processes.ts'

/** Where users are: on so many machines, of which several are namespaces of this one, or with workers that listen elsewhere already. */
export type Whereabouts =
  | { readonly machines: number }
  | { readonly workers: readonly string[]; readonly token: string; readonly listen: string }

export interface StartOptions {
  readonly fill: Pick<FillOptions, 'arm' | 'limits' | 'maxSessions'>
  readonly where: Whereabouts
  readonly directory: string
  readonly signal: AbortSignal
  onDeath(how: string): void
}

/** What `startMachine` fills: each is ended, in the order from the last to the first. */
export type Stops = (() => unknown)[]

/** A network, and machines with users of an arm, of whom there are none yet. Throws PROCESS_FAILED, DISPLAY_MISSING. */
export async function startMachine(options: StartOptions, stops: Stops): Promise<Machine> {
  const { fill, where } = options
  if ('workers' in where) {
    const network = await startNetwork(options, thisHost(where.listen), stops)
    const byHost = Map.groupBy(where.workers, (place) => place.replace(/:\d+$/, ''))
    return together(
      Array.from(byHost, ([address, workers]) => lightMachine({ ...where, workers, address }, fill, network)),
      stops,
    )
  }
  const hosts = await startHosts(where.machines)
  stops.push(() => hosts.stop())
  const network = await startNetwork(options, hosts.tracker, stops)
  if (!isLight(fill.arm)) return startPages(fill, network, stops)
  const perMachine = Math.max(1, Math.floor(availableParallelism() / where.machines))
  return together(
    await Promise.all(
      hosts.machines.map(async (host) => {
        const { places: workers, token, stop } = await startWorkers(host, perMachine)
        stops.push(stop)
        return lightMachine({ workers, token, address: host.address }, fill, network)
      }),
    ),
    stops,
  )
}

async function startNetwork(
  { fill, directory, signal, onDeath }: StartOptions,
  host: SessionHost,
  stops: Stops,
): Promise<SessionNetwork> {
  const place = { sessions: fill.maxSessions, host, directory }
  const network = await startSessionNetwork(place, { signal, onDeath })
  stops.push(() => network.stop())
  return network
}

function lightMachine(
  { workers, token, address }: { workers: readonly string[]; token: string; address: string },
  { arm }: StartOptions['fill'],
  network: SessionNetwork,
): Machine {
  const links = arm === 'light-webrtc' ? 'webrtc' : 'websocket'
  return new LightMachine({ workers, token, address, links, network })
}

function together([first, ...others]: readonly Machine[], stops: Stops): Machine {
  if (first === undefined) throw new Error('there is no machine')
  const all = new SeveralMachines([first, ...others])
  stops.push(() => all.stop())
  return all
}

async function startPages(
  { arm, limits }: StartOptions['fill'],
  network: SessionNetwork,
  stops: Stops,
): Promise<Machine> {
  const display = arm === 'headless' ? undefined : await startDisplay()
  stops.push(() => display?.stop())
  const { url, stop } = await serveMember()
  stops.push(stop)
  const machine = new PageMachine({
    ...{ url, network, display: display?.name, joinMs: limits.joinMs },
    isRecording: arm === 'browser-recording',
  })
  stops.push(() => machine.stop())
  return machine
}
