import { randomInt } from 'node:crypto'
import type { LoadPlan } from '../../../packages/node/src/bench/core/plan.ts'
import { DelayHistogram, summaryOf } from '../../../packages/node/src/bench/load/histogram.ts'
import { preciseNow } from '../../../packages/node/src/bench/load/metronome.ts'
import { RemoteGenerator } from '../../../packages/node/src/bench/worker/remote-generator.ts'
import type { Machine, OpenSession } from './machine.ts'
import { flows, framesPerS, joinsPerS } from './session-plan.ts'
import type { SessionNetwork } from './session-network.ts'

/** Neighbours of a node, as trackers assign them. */
const degree = 4
/** A session is ended, not finished. */
const foreverMs = 24 * 60 * 60_000
const frameBytes = flows.reduce((sum, { ratePerS, sizeBytes }) => sum + ratePerS * sizeBytes, 0) / framesPerS

export interface LightMachineOptions {
  /** host:port of `runnel bench worker`s that take many drivers, best one for each processor of the machine. */
  readonly workers: readonly string[]
  readonly token: string
  /** That users listen on. */
  readonly address: string
  readonly links: 'websocket' | 'webrtc'
  readonly network: SessionNetwork
}

/** A machine with light users of `runnel bench`: those of a session are spread over its workers, each with a driver for each session. */
export class LightMachine implements Machine {
  readonly leavesOut =
    'encoding, decoding and showing: they send frames of the right size and rate; all in one overlay, without priorities'
  readonly #options: LightMachineOptions
  readonly #generators: RemoteGenerator[] = []
  #joined = 0

  constructor(options: LightMachineOptions) {
    this.#options = options
  }

  get joined(): number {
    return this.#joined
  }

  async open(number: number, members: number, signal: AbortSignal): Promise<OpenSession> {
    const { workers, token, network, address } = this.#options
    const generators = await Promise.all(workers.map((worker) => RemoteGenerator.connect(worker, token)))
    this.#generators.push(...generators)
    const plan = this.#planOf(number, members)
    const place = { network: network.source, user: undefined, host: address, gateway: undefined }
    const of = generators.length
    await Promise.all(generators.map((one, index) => one.open(plan, place, { index, of }, signal)))
    this.#joined += members
    const startMs = preciseNow()
    const window = { startMs, measureFromMs: startMs, endMs: startMs + foreverMs }
    // It rejects when the session is ended; what else goes wrong is missing in a sample.
    for (const generator of generators) generator.run(window, signal).catch(() => undefined)
    return { joinMs: await longestJoinMs(generators), sample: () => sampleOf(generators) }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#generators.map((generator) => generator.stop()))
  }

  #planOf(number: number, members: number): LoadPlan {
    const { links, network } = this.#options
    return {
      ...{ runId: randomInt(2 ** 32), sender: 0, kind: 'light', links, floods: 'thin', degree, history: 0 },
      parts: [{ streamId: network.streamId(number), partition: 0 }],
      ...{ clients: members, publishersPerPart: members, subscribes: true, flows, connectPerS: joinsPerS },
    }
  }
}

async function longestJoinMs(generators: readonly RemoteGenerator[]): Promise<number> {
  const results = await Promise.all(generators.map((generator) => generator.result()))
  return Math.max(...results.map(({ joins }) => summaryOf(new DelayHistogram(joins))?.maxMs ?? 0))
}

async function sampleOf(generators: readonly RemoteGenerator[]) {
  const samples = await Promise.all(generators.map((generator) => generator.sample()))
  const sent = samples.reduce((sum, { published }) => sum + published, 0)
  const received = samples.reduce((sum, one) => sum + one.received, 0)
  return { sent, received, sentBytes: Math.round(sent * frameBytes) }
}
