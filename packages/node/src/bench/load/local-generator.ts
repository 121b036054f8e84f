import { setTimeout as pause } from 'node:timers/promises'
import { isRunnelError } from '@runnel/protocol'
import { nodeError } from '../../errors.ts'
import { ArrivalRing } from '../core/arrivals.ts'
import { membersOf, rolesOf, type LoadPlan, type Share, type UserRole } from '../core/plan.ts'
import { stamped, stampOf } from '../core/stamp.ts'
import type { BenchUser, UserFactory, UserPlace } from '../users/user.ts'
import { openFactory } from '../users/open-factory.ts'
import { DelayHistogram } from './histogram.ts'
import type { Generator, LoadResult, LoadSample, LoadWindow } from './generator.ts'
import { Ledger } from './ledger.ts'
import { Metronome, preciseNow } from './metronome.ts'
import { OwnCost } from './own-cost.ts'

/** Different errors that are told apart. */
const maxErrors = 20
/** How many users are named that lack something. */
const maxNamed = 5
/** Users that join at once at most: more only wait for each other. */
const maxOpening = 64

interface OpenUser {
  readonly role: UserRole
  readonly user: BenchUser
  /** Sent so far, by flow. */
  readonly sent: number[]
}

export interface LocalGeneratorOptions {
  readonly name: string
  /** What is to be added to this process's clock to get the driver's. */
  readonly clockOffsetMs?: () => { readonly offsetMs: number; readonly errorMs: number }
}

/** The generator of this process. */
export class LocalGenerator implements Generator {
  readonly name: string
  readonly #clock: () => { readonly offsetMs: number; readonly errorMs: number }
  readonly #ledger = new Ledger()
  readonly #delays = new DelayHistogram()
  readonly #recent = new DelayHistogram()
  readonly #joins = new DelayHistogram()
  readonly #lateness = new DelayHistogram()
  readonly #errors = new Map<string, number>()
  readonly #cost = new OwnCost()
  readonly #sampleCost = new OwnCost()
  readonly #users: OpenUser[] = []
  #plan: LoadPlan | undefined
  #share: Share = { index: 0, of: 1 }
  #factory: UserFactory | undefined
  #window: LoadWindow | undefined
  #published: number[] = []
  #sampled = { published: 0, received: 0 }
  #cpuShare = 0
  #stopping: Promise<void> | undefined

  constructor({ name, clockOffsetMs = () => ({ offsetMs: 0, errorMs: 0 }) }: LocalGeneratorOptions) {
    this.name = name
    this.#clock = clockOffsetMs
  }

  /** Throws BENCH_USERS_FAILED with the first reason, or what the factory throws. */
  async open(plan: LoadPlan, place: UserPlace, share: Share, signal: AbortSignal): Promise<void> {
    this.#plan = plan
    this.#share = share
    this.#published = plan.parts.map(() => 0)
    const factory = await openFactory(plan, place)
    this.#factory = factory
    const roles = rolesOf(plan, share)
    const ring = new ArrivalRing({
      ...{ publishers: 1, ratePerS: plan.connectPerS / share.of, phase: 0 },
      ...{ startMs: preciseNow(), endMs: Infinity },
    })
    const opening = new Set<Promise<void>>()
    const failures: unknown[] = []
    for (const role of roles) {
      if (failures.length > 0) break
      const waitMs = ring.nextMs - preciseNow()
      if (waitMs > 0) await pause(waitMs, undefined, { signal })
      const { intendedMs = preciseNow() } = ring.take(Infinity) ?? {}
      const opened = this.#openUser(factory, { plan, place, role }, intendedMs).catch((error: unknown) => {
        failures.push(error)
      })
      opening.add(opened)
      void opened.then(() => opening.delete(opened))
      if (opening.size >= maxOpening) await untilAborted(Promise.race(opening), signal)
    }
    await untilAborted(Promise.all(opening), signal)
    if (failures.length === 0) return
    const [cause] = failures
    throw nodeError('BENCH_USERS_FAILED', `${failures.length} of ${roles.length}: ${textOf(cause)}`, { cause })
  }

  async #openUser(
    factory: UserFactory,
    { plan, place, role }: { readonly plan: LoadPlan; readonly place: UserPlace; readonly role: UserRole },
    intendedMs: number,
  ): Promise<void> {
    const part = plan.parts[role.part]
    if (part === undefined) return
    const user = await factory.open({
      ...{ plan, place, role, part },
      onMessage: (content) => this.#receive(role.number, content),
      onError: (error) => this.#noteError(error),
    })
    this.#joins.add(preciseNow() - intendedMs)
    this.#users.push({ role, user, sent: plan.flows.map(() => 0) })
  }

  missing(): Promise<readonly string[]> {
    const plan = this.#plan
    if (plan === undefined) return Promise.resolve([])
    const lacking = this.#users.flatMap(({ role, user }) => {
      const neighbours = user.neighbours()
      if (neighbours === undefined) return []
      const wants = Math.max(neighbours.wants, Math.min(plan.degree, membersOf(plan, role.part) - 1))
      return neighbours.has < wants
        ? [{ short: wants - neighbours.has, text: `user ${role.number}: ${neighbours.has} of ${wants} neighbours` }]
        : []
    })
    // Where the number of nodes times the degree is odd, one has one neighbour too few.
    const isOddOne = lacking.length <= plan.parts.length && lacking.every(({ short }) => short === 1)
    if (isOddOne) return Promise.resolve([])
    const others = lacking.length - maxNamed
    return Promise.resolve([
      ...lacking.slice(0, maxNamed).map(({ text }) => text),
      ...(others > 0 ? [`${others} more`] : []),
    ])
  }

  async run(window: LoadWindow, signal: AbortSignal): Promise<void> {
    const plan = this.#plan
    if (plan === undefined) throw nodeError('INTERNAL', 'run before open')
    const { offsetMs } = this.#clock()
    this.#window = window
    const publishers = this.#users
      .filter(({ role }) => role.publishes)
      .toSorted((a, b) => a.role.number - b.role.number)
    const { index, of } = this.#share
    const flows = plan.flows.map((flow, number) => {
      const phase = (index + number / plan.flows.length) / of
      const { startMs, endMs } = window
      const ring = new ArrivalRing({
        ...{ publishers: publishers.length, ratePerS: flow.ratePerS, phase },
        ...{ startMs: startMs - offsetMs, endMs: endMs - offsetMs },
      })
      return { ...flow, number, ring }
    })
    this.#cost.restart()
    const done = Promise.withResolvers<void>()
    const metronome = new Metronome(() => {
      for (const { ring, number, sizeBytes, urgent } of flows) {
        for (let due = ring.take(preciseNow()); due !== undefined; due = ring.take(preciseNow())) {
          const publisher = publishers[due.publisher]
          if (publisher) this.#publish(publisher, { number, sizeBytes, urgent, intendedMs: due.intendedMs + offsetMs })
        }
      }
      const nextMs = Math.min(...flows.map(({ ring }) => ring.nextMs))
      if (nextMs === Infinity) done.resolve()
      return nextMs
    })
    metronome.start()
    try {
      await untilAborted(done.promise, signal)
      const restMs = window.endMs - offsetMs - preciseNow()
      if (restMs > 0) await pause(restMs, undefined, { signal })
    } finally {
      this.#cpuShare = this.#cost.cpuShare
      await metronome.stop()
    }
  }

  #publish(
    { role, user, sent }: OpenUser,
    flow: { readonly number: number; readonly sizeBytes: number; readonly urgent: boolean; readonly intendedMs: number },
  ): void {
    const { runId = 0 } = this.#plan ?? {}
    const count = sent[flow.number] ?? 0
    const { intendedMs } = flow
    const stamp = { runId, user: role.number, flow: flow.number, count, intendedMs }
    sent[flow.number] = count + 1
    this.#published[role.part] = (this.#published[role.part] ?? 0) + 1
    this.#lateness.add(this.#nowMs() - intendedMs)
    user.publish(stamped(stamp, flow.sizeBytes), flow.urgent)
  }

  #receive(reader: number, content: Uint8Array): void {
    const stamp = stampOf(content, this.#plan?.runId ?? 0)
    if (stamp === undefined || !this.#ledger.take(reader, stamp)) return
    if (stamp.intendedMs < (this.#window?.measureFromMs ?? 0)) return
    const delayMs = this.#nowMs() - stamp.intendedMs
    this.#delays.add(delayMs)
    this.#recent.add(delayMs)
  }

  sample(): Promise<LoadSample> {
    const published = this.#published.reduce((sum, number) => sum + number, 0)
    const { received } = this.#ledger.counts
    const sample = {
      published: published - this.#sampled.published,
      received: received - this.#sampled.received,
      delays: this.#recent.encode(),
      cpuShare: this.#sampleCost.cpuShare,
    }
    this.#recent.reset()
    this.#sampleCost.restart()
    this.#sampled = { published, received }
    return Promise.resolve(sample)
  }

  result(): Promise<LoadResult> {
    return Promise.resolve({
      name: this.name,
      ...this.#ledger.counts,
      missing: this.#ledger.missing,
      published: this.#published,
      cpuShare: this.#cpuShare,
      rssBytes: this.#cost.rssBytes,
      latenessP99Ms: this.#lateness.count === 0 ? undefined : this.#lateness.percentileMs(99),
      clockErrorMs: this.#clock().errorMs,
      delays: this.#delays.encode(),
      joins: this.#joins.encode(),
      lateness: this.#lateness.encode(),
      errors: Object.fromEntries(this.#errors),
      leavesOut: this.#factory?.leavesOut ?? '',
    })
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    await Promise.all(this.#users.map(({ user }) => user.stop()))
    await this.#factory?.stop()
  }

  #nowMs(): number {
    return preciseNow() + this.#clock().offsetMs
  }

  #noteError(error: unknown): void {
    const text = textOf(error)
    if (this.#errors.size < maxErrors || this.#errors.has(text))
      this.#errors.set(text, (this.#errors.get(text) ?? 0) + 1)
  }
}

const textOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error)
  return isRunnelError(error) ? `${error.code}: ${text}` : text
}

/** Rejects when the signal aborts, with its reason. What was waited for goes on by itself. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason as Error)
  signal.addEventListener('abort', onAbort)
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
    aborted.promise.catch(() => {})
  }
}
