import * as z from 'zod'
import { compiled } from './compiled.ts'
import { underlayError } from './errors.ts'
import { LineProcess } from './line-process.ts'

/** A host of the emulator: a network namespace with a device of its own. */
export interface EmulatedHost {
  readonly index: number
  readonly address: string
  /** Path by which others enter the namespace, while the emulator runs. */
  readonly namespace: string
}

const statisticsSchema = z.object({
  packets: z.number(),
  bytes: z.number(),
  delivered: z.number(),
  /** By chance, as asked. */
  lost: z.number(),
  /** Too much waited at a link with a bandwidth. */
  queueFull: z.number(),
  /** More in flight than the emulator holds. */
  poolFull: z.number(),
  /** Not IPv4, or to an address without a configured delay. */
  unroutable: z.number(),
  /** The receiver's device did not take it. */
  refused: z.number(),
  inFlight: z.number(),
  /** The emulator goes before all ordinary processes. */
  realTime: z.boolean(),
  /** How long after its time a packet was handed to its receiver; null when none was. */
  lateness: z.object({ meanUs: z.number(), p99Us: z.number(), maxUs: z.number() }).nullable(),
})
export type EmulatorStatistics = z.output<typeof statisticsSchema>

const hostSchema = z.object({ host: z.number(), namespace: z.string() })
const doneSchema = z.strictObject({})

/**
 * The link emulator (`emulation/link-emulator/src/commands.h`) as a child process. It ends when this process does, whatever
 * ends it: namespaces and devices go with it. Every method rejects with LINK_EMULATOR_FAILED when it has ended, or refuses.
 */
export class LinkEmulator {
  readonly #failed = new AbortController()
  #process: LineProcess | undefined

  /** Aborts with the reason when it has ended unexpectedly. */
  get failed(): AbortSignal {
    return this.#failed.signal
  }

  /** Rejects also with COMPILATION_FAILED. */
  async start(): Promise<void> {
    if (this.#process) return
    const program = await compiled('link-emulator')
    const child = new LineProcess(program, [], (detail) => underlayError('LINK_EMULATOR_FAILED', detail))
    child.failed.addEventListener('abort', () => this.#failed.abort(child.failed.reason))
    this.#process = child
    await this.statistics()
  }

  async addHost(address: string): Promise<EmulatedHost> {
    const { host, namespace } = await this.#ask(`host ${address}`, hostSchema)
    return { index: host, address, namespace }
  }

  /** One way. Without it nothing gets from one to the other. */
  async setDelay(from: EmulatedHost, to: EmulatedHost, delayMs: number): Promise<void> {
    await this.#ask(`delay ${from.index} ${to.index} ${delayMs * 1000}`, doneSchema)
  }

  /** Standard deviation each way, on one host's link or all. Packets from one host to another keep their order. */
  async setJitter(host: EmulatedHost | 'all', deviationMs: number): Promise<void> {
    await this.#ask(`jitter ${nameOf(host)} ${deviationMs * 1000}`, doneSchema)
  }

  /** From 0 to 1, each way, on one host's link or all. */
  async setLoss(host: EmulatedHost | 'all', rate: number): Promise<void> {
    await this.#ask(`loss ${nameOf(host)} ${rate}`, doneSchema)
  }

  /** Each way, on one host's link or all. What finds `queueBytes` or more before it is dropped. 0 bits a second: no limit. */
  async setBandwidth(host: EmulatedHost | 'all', bitsPerS: number, queueBytes: number): Promise<void> {
    await this.#ask(`rate ${nameOf(host)} ${bitsPerS} ${queueBytes}`, doneSchema)
  }

  /** Of loss and jitter: a whole number from 0. */
  async setSeed(seed: number): Promise<void> {
    await this.#ask(`seed ${seed}`, doneSchema)
  }

  async statistics(): Promise<EmulatorStatistics> {
    return this.#ask('stats', statisticsSchema)
  }

  async resetStatistics(): Promise<void> {
    await this.#ask('reset', doneSchema)
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    await this.#process?.stop()
  }

  async #ask<T>(command: string, schema: z.ZodType<T>): Promise<T> {
    if (!this.#process) throw underlayError('LINK_EMULATOR_FAILED', 'the link emulator was not started')
    const line = await this.#process.ask(command)
    const { success, data } = schema.safeParse(JSON.parse(line))
    if (!success) throw underlayError('LINK_EMULATOR_FAILED', `"${command}": ${line}`)
    return data
  }
}

function nameOf(host: EmulatedHost | 'all'): string {
  return host === 'all' ? host : String(host.index)
}
