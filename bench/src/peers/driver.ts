import { setTimeout as pause } from 'node:timers/promises'
import { answerCalls } from '../child-calls.ts'
import { settled } from '../settling.ts'
import { cpuUs, percentile } from '../statistics.ts'
import type { StartOptions, StartSystem, System } from './system.ts'

/** Published together: what an application may do in one turn. */
const burst = 64
/** Published and not yet delivered, at most, in the mean of the subscribers. */
const windowMessages = 128
/** What has not come so long after anything else came is lost. */
const lostAfterMs = 2_000
/** No duplicate is on its way any more. */
const quietMs = 200
const joinEveryMs = 5

export interface LoadFigures {
  readonly published: number
  readonly delivered: number
  readonly lost: number
  readonly deliveriesPerS: number
  /** Of all processes. */
  readonly cpuUsPerDelivery: number
  /** Of servers alone; absent where there are none. */
  readonly serverCpuUsPerDelivery?: number
  /** Copies that came again, for each message published, in the sum of the nodes. */
  readonly duplicatesPerMessage?: number
  /** Milliseconds; absent when messages went as fast as they could. */
  readonly p50Ms?: number
  readonly p99Ms?: number
}

/** What the process of a system is asked to do; `libp2p/go` answers the same calls. */
export type DriverCalls = {
  start(options: StartOptions): Promise<void>
  /** As fast as they go, for so many seconds, and until all were delivered. */
  saturate(seconds: number): Promise<LoadFigures>
  paced(perS: number, seconds: number): Promise<LoadFigures>
  /** Milliseconds from the start of one more subscriber to its first message; undefined where nodes cannot join. */
  join(): Promise<number | undefined>
  stop(): Promise<void>
}

/** Makes this process the driver of a system. */
export function drive(startSystem: StartSystem): void {
  let driver: Driver | undefined
  const started = (): Driver => {
    if (driver === undefined) throw new Error('not started')
    return driver
  }
  const calls: DriverCalls = {
    async start(options) {
      const fresh = new Driver(options.nodes - 1)
      fresh.system = await startSystem(options, (number) => fresh.onDelivery(number))
      driver = fresh
    },
    saturate: (seconds) => started().saturate(seconds),
    paced: (perS, seconds) => started().paced(perS, seconds),
    join: () => started().join(),
    stop: async () => void (await driver?.system?.stop()),
  }
  answerCalls(calls)
}

class Driver {
  system: System | undefined
  readonly #subscribers: number
  #published = 0
  #delivered = 0
  /** Where numbers of the running load begin: what is late from before is not counted. */
  #first = 0
  #roomIsThere: () => void = () => {}
  #onNumber: (number: number) => void = () => {}

  constructor(subscribers: number) {
    this.#subscribers = subscribers
  }

  onDelivery(number: number): void {
    if (number < this.#first) return
    this.#delivered++
    this.#onNumber(number)
    if (this.#hasRoom) this.#roomIsThere()
  }

  async saturate(seconds: number): Promise<LoadFigures> {
    return this.#measure(async (publish) => {
      let isOver = false
      setTimeout(() => {
        isOver = true
        this.#roomIsThere()
      }, seconds * 1000)
      while (!isOver) {
        if (this.#hasRoom) await publish(burst)
        else await new Promise<void>((resolve) => (this.#roomIsThere = resolve))
        await new Promise((resolve) => setImmediate(resolve))
      }
    })
  }

  async paced(perS: number, seconds: number): Promise<LoadFigures> {
    const sentMs = new Map<number, number>()
    const delaysMs: number[] = []
    this.#onNumber = (number) => delaysMs.push(performance.now() - (sentMs.get(number) ?? Number.NaN))
    const figures = await this.#measure(async (publish) => {
      const startMs = performance.now()
      for (let sent = 0; sent < perS * seconds; sent++) {
        await pause(Math.max(0, startMs + (sent * 1000) / perS - performance.now()))
        sentMs.set(this.#first + sent, performance.now())
        await publish(1)
      }
    })
    this.#onNumber = () => {}
    return { ...figures, p50Ms: percentile(delaysMs, 0.5), p99Ms: percentile(delaysMs, 0.99) }
  }

  async join(): Promise<number | undefined> {
    const system = this.#running
    if (system.join === undefined) return undefined
    let isHeard = false
    const flow = (async () => {
      for (; !isHeard; this.#published++) {
        await system.publish(this.#first + this.#published, 1)
        await pause(joinEveryMs)
      }
    })()
    const startMs = performance.now()
    const heard = Promise.withResolvers<number>()
    const leave = await system.join(() => heard.resolve(performance.now() - startMs))
    const tookMs = await heard.promise
    isHeard = true
    await flow
    await leave()
    return tookMs
  }

  get #hasRoom(): boolean {
    return this.#published + burst - this.#delivered / this.#subscribers <= windowMessages
  }

  get #running(): System {
    if (this.system === undefined) throw new Error('not started')
    return this.system
  }

  async #measure(load: (publish: (count: number) => Promise<void>) => Promise<void>): Promise<LoadFigures> {
    const system = this.#running
    const duplicates = () => system.duplicates?.() ?? 0
    const servers = () => system.serverCpuUs?.() ?? 0
    this.#first += this.#published
    this.#published = this.#delivered = 0
    const before = { us: cpuUs(), serverUs: servers(), duplicates: duplicates(), ms: performance.now() }
    await load(async (count) => {
      const first = this.#first + this.#published
      this.#published += count
      await system.publish(first, count)
    })
    const expected = () => this.#published * this.#subscribers
    const { endMs } = await settled({
      isDone: () => this.#delivered >= expected(),
      progress: () => this.#delivered,
      quietMs: lostAfterMs,
    })
    await settled({ isDone: () => false, progress: duplicates, quietMs })
    const delivered = this.#delivered
    const serverUs = servers() - before.serverUs
    return {
      published: this.#published,
      delivered,
      lost: expected() - delivered,
      deliveriesPerS: (1000 * delivered) / (endMs - before.ms),
      cpuUsPerDelivery: (cpuUs() - before.us + serverUs) / delivered,
      ...(system.serverCpuUs && { serverCpuUsPerDelivery: serverUs / delivered }),
      ...(system.duplicates && {
        duplicatesPerMessage: (duplicates() - before.duplicates) / this.#published,
      }),
    }
  }
}
