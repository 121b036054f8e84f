import { setTimeout as pause } from 'node:timers/promises'
import { untilAborted } from '@runnel/protocol'
import { nodeError } from '../../errors.ts'
import { closeSharedMs, closeUsersMs } from '../core/budget.ts'
import { addDropped, noneDropped, type DroppedCopies } from '../core/loss.ts'
import { rolesOf, type LoadPlan, type Share, type UserRole } from '../core/plan.ts'
import { stamped, stampOf } from '../core/stamp.ts'
import { openFactory } from '../users/open-factory.ts'
import type { BenchUser, UserFactory, UserPlace } from '../users/user.ts'
import { closeWithin, type Closing } from './close-within.ts'
import type { Generator, LoadResult, LoadSample, LoadWindow } from './generator.ts'
import { Introductions } from './introductions.ts'
import { Measurements } from './measurements.ts'
import { preciseNow } from './metronome.ts'
import { openUsers } from './open-users.ts'
import { OwnCost } from './own-cost.ts'
import { Publishing, type DueMessage } from './publishing.ts'
import { firstOf, lackingNeighbours } from './settled.ts'

interface OpenUser {
  readonly role: UserRole
  readonly user: BenchUser
  /** Sent so far, by flow. */
  readonly sent: number[]
}

/** How far this process's clock is from the driver's. */
export interface ClockOffset {
  /** To be added to this clock to get the driver's. */
  readonly offsetMs: number
  /** How far that may be off. */
  readonly errorMs: number
}

/** What is known once a run was opened. */
interface OpenRun {
  readonly plan: LoadPlan
  readonly share: Share
  readonly factory: UserFactory
  readonly measurements: Measurements
}

/** The generator of this process. */
export class LocalGenerator implements Generator {
  readonly name: string
  readonly #clock: () => ClockOffset
  readonly #cost = new OwnCost()
  readonly #sampleCost = new OwnCost()
  readonly #users: OpenUser[] = []
  /** Users that are being opened. */
  readonly #opening = new Map<UserRole, Promise<BenchUser>>()
  #factory: Promise<UserFactory> | undefined
  #run: OpenRun | undefined
  /** While it sends. */
  #publishing: Publishing | undefined
  readonly #introductions = new Introductions()
  /** Whether publishers say who they are. Those of other generators may do so before this one's. */
  #introduces = false
  readonly #ended = new AbortController()
  /** While it sent; where it has not, while its users were opened. */
  #cpuShare = 0
  #stopping: Promise<readonly string[]> | undefined

  constructor(name: string, clock: () => ClockOffset = () => ({ offsetMs: 0, errorMs: 0 })) {
    this.name = name
    this.#clock = clock
  }

  /** Throws what `openUsers` throws, or what the kind of user needs and does not find. */
  async open(plan: LoadPlan, place: UserPlace, share: Share, given: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([given, this.#ended.signal])
    const factory = await (this.#factory = openFactory(plan))
    signal.throwIfAborted()
    const measurements = new Measurements(plan.parts.length)
    this.#run = { plan, share, factory, measurements }
    this.#cost.restart()
    await openUsers(rolesOf(plan, share), plan.connectPerS / share.of, signal, async (role, intendedMs) => {
      const part = plan.parts[role.part]
      if (part === undefined) return
      const opening = factory.open({
        ...{ plan, place, role, part, signal },
        onMessage: (content, atMs) => this.#receive(role.number, content, atMs),
        intendedMs,
        onError: (error) => measurements.failed(error),
        onDelay: (ms) => measurements.delayed(ms),
      })
      this.#opening.set(role, opening)
      try {
        const user = await opening
        // It may have been too late to call it off: then `stop` waits for it, and closes it.
        if (this.#ended.signal.aborted) return
        this.#users.push({ role, user, sent: plan.flows.map(() => 0) })
        measurements.joined(preciseNow() - intendedMs)
      } finally {
        this.#opening.delete(role)
      }
    })
    this.#cpuShare = this.#cost.cpuShare
  }

  introduce(): Promise<void> {
    const { plan, measurements } = this.#opened()
    this.#introduces = true
    for (const { role, user } of this.#users)
      if (role.publishes)
        user
          .publish(stamped(Introductions.stampOf(plan, role.number), 0), false)
          .catch((error: unknown) => measurements.failed(error))
    return Promise.resolve()
  }

  async missing(): Promise<readonly string[]> {
    if (this.#run === undefined) return []
    const { plan } = this.#run
    const roles = this.#users.map(({ role }) => role)
    return [
      ...firstOf(Array.from(this.#opening.keys(), ({ number }) => `user ${number} has not joined`)),
      ...(await lackingNeighbours(plan, this.#users)),
      ...firstOf(this.#introduces ? this.#introductions.lacking(plan, roles) : []),
    ]
  }

  async run(window: LoadWindow, signal: AbortSignal): Promise<void> {
    const { plan, share, measurements } = this.#opened()
    const { offsetMs } = this.#clock()
    const publishers = this.#users
      .filter(({ role }) => role.publishes)
      .toSorted((a, b) => a.role.number - b.role.number)
    measurements.measureFrom(window.measureFromMs, window.endMs)
    const own = { startMs: window.startMs - offsetMs, endMs: window.endMs - offsetMs }
    const publishing = new Publishing(
      { publishers: publishers.length, flows: plan.flows, share },
      own,
      (message) => {
        const publisher = publishers[message.publisher]
        if (publisher) this.#publish(publisher, message, offsetMs)
      },
    )
    this.#cost.restart()
    this.#sampleCost.restart()
    this.#publishing = publishing
    publishing.start()
    try {
      await untilAborted(publishing.done, signal)
      await pause(Math.max(0, own.endMs - preciseNow()), undefined, { signal })
    } finally {
      this.#cpuShare = this.#cost.cpuShare
      this.#publishing = undefined
      await publishing.stop()
    }
  }

  #publish({ role, user, sent }: OpenUser, { flow, intendedMs }: DueMessage, offsetMs: number): void {
    const { plan, measurements } = this.#opened()
    const { runId, sender } = plan
    const { sizeBytes = 0, urgent = false } = plan.flows[flow] ?? {}
    const count = sent[flow] ?? 0
    sent[flow] = count + 1
    const stamp = { runId, sender, user: role.number, flow, count, intendedMs: intendedMs + offsetMs }
    measurements.published(role.part, stamp.intendedMs, preciseNow() + offsetMs)
    user.publish(stamped(stamp, sizeBytes), urgent).then(
      () => measurements.sent(role.part),
      (error: unknown) => measurements.unsent(role.part, error),
    )
  }

  #receive(reader: number, content: Uint8Array, atMs = preciseNow()): void {
    const { plan, measurements } = this.#opened()
    const stamp = stampOf(content, plan.runId)
    // Nodes give users what they published themselves, too.
    if (stamp === undefined || (plan.publishersPerPart > 0 && stamp.user === reader)) return
    if (this.#introductions.take(plan, reader, stamp)) return
    measurements.received(reader, stamp, atMs + this.#clock().offsetMs)
    this.#publishing?.catchUp()
  }

  sample(): Promise<LoadSample> {
    const sample = { ...this.#opened().measurements.sample(), cpuShare: this.#sampleCost.cpuShare }
    this.#sampleCost.restart()
    return Promise.resolve(sample)
  }

  result(): Promise<LoadResult> {
    const { measurements, factory } = this.#opened()
    return Promise.resolve({
      ...measurements.result(),
      ...{ name: this.name, cpuShare: this.#publishing ? this.#cost.cpuShare : this.#cpuShare },
      rssBytes: this.#cost.rssBytes,
      dropped: droppedBy(this.#users),
      clockErrorMs: this.#clock().errorMs,
      leavesOut: factory.leavesOut,
    })
  }

  #opened(): OpenRun {
    if (this.#run === undefined) throw nodeError('INTERNAL', 'no run was opened')
    return this.#run
  }

  stop(): Promise<readonly string[]> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<readonly string[]> {
    this.#ended.abort()
    const users = [
      ...this.#users.map(({ role, user }) => closing(`user ${role.number}`, Promise.resolve(user))),
      ...Array.from(this.#opening, ([role, opening]) => closing(`user ${role.number}`, opening)),
    ]
    const shared = this.#factory ? [closing('what users share', this.#factory)] : []
    const unclosed = firstOf(await closeWithin(users, closeUsersMs))
    return [...unclosed, ...(await closeWithin(shared, closeSharedMs))]
  }
}

/** Of what may be opening still; what cannot be opened leaves nothing to close. */
function closing(name: string, opening: Promise<Pick<BenchUser, 'stop'>>): Closing {
  return { name, close: async () => (await opening.catch(() => undefined))?.stop() }
}

/** Undefined where one of them cannot tell. */
function droppedBy(users: readonly OpenUser[]): DroppedCopies | undefined {
  return users.reduce<DroppedCopies | undefined>((sum, { user }) => {
    const dropped = user.dropped()
    return sum && dropped && addDropped(sum, dropped)
  }, noneDropped)
}
