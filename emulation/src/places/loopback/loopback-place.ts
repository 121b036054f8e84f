import { emulationError } from '../../errors.ts'
import type { Fleet, Host, Hosts, Place, PlaceFacts } from '../place.ts'
import { ProcessFleet } from '../processes/process-fleet.ts'

const address = '127.0.0.1'

/** Plain processes on this machine: no delay, no loss, every port of one address. Shows that everything runs. */
export class LoopbackPlace implements Place {
  readonly kind = 'loopback'
  readonly source = 'emulation'
  readonly latency = 'none'
  #processes: ProcessFleet | undefined

  get failed(): AbortSignal | undefined {
    return this.#processes?.failed
  }

  start(fleet: Fleet, signal: AbortSignal): Promise<Hosts> {
    const machine = (name: string) => ({ name, site: 'loopback', address })
    const nodes = Array.from({ length: fleet.nodes }, (_, index) => machine(`node-${index}`))
    this.#processes = new ProcessFleet(
      { tracker: machine('tracker'), nodes, fleet },
      { within: (_, command) => command },
    )
    return this.#processes.start(signal)
  }

  async restart(host: Host, signal: AbortSignal): Promise<void> {
    await this.#processes?.restart(host, signal)
  }

  delayMs(): number {
    return 0
  }

  setLoss(rate: number): Promise<void> {
    if (rate === 0) return Promise.resolve()
    return Promise.reject(emulationError('PLACE_CANNOT', 'loopback cannot emulate loss'))
  }

  facts(): Promise<PlaceFacts> {
    return Promise.resolve({})
  }

  async stop(): Promise<void> {
    await this.#processes?.stop()
  }
}
