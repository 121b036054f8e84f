import { randomInt } from 'node:crypto'
import { DelayHistogram, summaryOf } from '../../../packages/node/src/bench/load/histogram.ts'
import type { LoadPlan } from '../../../packages/node/src/bench/core/plan.ts'
import { preciseNow } from '../../../packages/node/src/bench/load/metronome.ts'
import { RemoteGenerator } from '../../../packages/node/src/bench/worker/remote-generator.ts'
import type { Machine, OpenSession } from './machine.ts'
import { flows, joinsPerS } from './session-plan.ts'
import type { SessionNetwork } from './session-network.ts'

/** Neighbours of a node, as trackers assign them. */
const degree = 4
/** Until the run is over; a session is ended, not finished. */
const foreverMs = 24 * 60 * 60_000
const frameBytes =
  flows.reduce((sum, { ratePerS, sizeBytes }) => sum + ratePerS * sizeBytes, 0) /
  flows.reduce((sum, { ratePerS }) => sum + ratePerS, 0)

export interface LightMachineOptions {
  /** host:port of `runnel bench worker`s: best one for each processor of the machine, each taking many drivers. */
  readonly workers: readonly string[]
  readonly token: string
  /** That users listen on. */
  readonly address: string
  readonly links: 'websocket' | 'webrtc'
  readonly network: SessionNetwork
}

/** A machine with light users of `runnel bench`. Its workers take sessions in turns, each with a driver of its own. */
export class LightMachine implements Machine {
  readonly leavesOut =
    'encoding, decoding and showing: they send frames of the right size and rate; all in one overlay, without priorities'
  readonly #options: LightMachineOptions
  readonly #generators: RemoteGenerator[] = []

  constructor(options: LightMachineOptions) {
    this.#options = options
  }

  async open(number: number, members: number, signal: AbortSignal): Promise<OpenSession> {
    const { workers, token, network, address } = this.#options
    const generator = await RemoteGenerator.connect(workers[number % workers.length] ?? '', token)
    this.#generators.push(generator)
    const plan = this.#planOf(number, members)
    const place = { network: network.source, user: undefined, host: address, gateway: undefined }
    await generator.open(plan, place, { index: 0, of: 1 }, signal)
    const startMs = preciseNow()
    // It rejects when the session is ended; what else goes wrong a sample says.
    generator
      .run({ startMs, measureFromMs: startMs, endMs: startMs + foreverMs }, signal)
      .catch(() => undefined)
    const joins = summaryOf(new DelayHistogram((await generator.result()).joins))
    return {
      joinMs: joins?.maxMs ?? 0,
      sample: async () => {
        const { published, received } = await generator.sample()
        return { sent: published, received, sentBytes: Math.round(published * frameBytes) }
      },
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#generators.map((generator) => generator.stop()))
  }

  #planOf(number: number, members: number): LoadPlan {
    const { links, network } = this.#options
    return {
      ...{
        runId: randomInt(2 ** 32),
        kind: 'light',
        links,
        floods: 'thin',
        degree,
        history: 0,
        subscribes: true,
      },
      parts: [{ streamId: network.streamId(number), partition: 0 }],
      ...{ clients: members, publishersPerPart: members, flows, connectPerS: joinsPerS },
    }
  }
}
