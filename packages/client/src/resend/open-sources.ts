import { parseStreamPartId, type NodeId, type ResendSelection } from '@runnel/protocol'
import { clientError } from '../errors.ts'
import type { SourceRequest } from './answer-progress.ts'
import { HoldUps } from './hold-ups.ts'
import type { BatchMerge } from './merge.ts'
import {
  PartSources,
  type Arrival,
  type PartEvents,
  type PartPlan,
  type StartedSource,
} from './part-sources.ts'
import { windowFor, type SourceModules } from './storage-source.ts'
import type { WantedRange } from './wanted-range.ts'

/** A storage node that is read. */
export interface OpenSource extends StartedSource {
  readonly id: number
  readonly part: PartSources
  /** The last request to it, settled once it has arrived. */
  reading: Promise<void> | undefined
  arrived: Arrival | undefined
  hasEnded: boolean
}

export interface OpenSourcesModules extends SourceModules {
  readonly events: PartEvents
  readonly merge: BatchMerge
  readonly wanted: WantedRange
}

/**
 * The storage nodes being read, for all stream parts. Feeds their batches to the merge, replaces nodes that fail, and sets slow
 * ones aside for a while.
 */
export class OpenSources {
  readonly #modules: OpenSourcesModules
  readonly #holdUps: HoldUps
  readonly #parts = new Map<number, PartSources>()
  readonly #sources = new Map<number, OpenSource>()
  #nextId = 0

  constructor(modules: OpenSourcesModules) {
    this.#modules = modules
    this.#holdUps = new HoldUps(modules.limits)
  }

  /** Rejects with RESEND_FAILED or RESEND_DENIED when all of a stream part fail. */
  async start(
    plans: readonly PartPlan[],
    filter: Pick<SourceRequest, 'publisherId' | 'messageChainId'>,
  ): Promise<void> {
    const { limits, wanted } = this.#modules
    const request = { ...filter, windowBytes: windowFor(plans.length * limits.maxSourcesPerPart, limits) }
    const asked = wanted.after(undefined)
    await Promise.all(
      plans.map(async (plan) => {
        const part = new PartSources(plan, request, this.#modules)
        this.#parts.set(parseStreamPartId(plan.streamPartId).partition, part)
        for (const started of await part.start(asked)) this.#add(part, started, asked)
      }),
    )
  }

  part(partition: number): PartSources | undefined {
    return this.#parts.get(partition)
  }

  /** The storage nodes being read for a partition. */
  read(partition: number): readonly OpenSource[] {
    const part = this.#parts.get(partition)
    return [...this.#sources.values()].filter((open) => open.part === part)
  }

  /** Storage nodes that were given up. */
  get failed(): readonly NodeId[] {
    return [...this.#parts.values()].flatMap((part) => part.failed)
  }

  areReady(ids: readonly number[]): boolean {
    return ids.every((id) => this.#sources.get(id)?.source.isReady === true)
  }

  /** Waits until a node that is behind has something, or has held up the others for too long. */
  async advance(behind: readonly number[]): Promise<void> {
    const { clock } = this.#modules
    const open = behind.flatMap((id) => this.#sources.get(id) ?? [])
    const holders = open.filter((source) => this.#canDoWithout(source, behind))
    const patienceMs = Math.min(...holders.map((source) => this.#patienceMs(source)))
    const beganMs = clock.monotonicMs()
    const impatience = Promise.withResolvers<void>()
    const cancel =
      holders.length === 0 ? () => {} : clock.schedule(Math.max(0, patienceMs), impatience.resolve)
    await Promise.race([impatience.promise, ...open.map((source) => this.#readOn(source))])
    cancel()
    const heldUpMs = clock.monotonicMs() - beganMs
    await Promise.all(open.map((source) => this.#takeArrived(source)))
    for (const source of holders) {
      this.#holdUps.add(source.id, heldUpMs)
      if (this.#patienceMs(source) <= 0) await this.#spare(source)
    }
  }

  /** A message of a source was taken. */
  taken(id: number): void {
    const source = this.#sources.get(id)
    this.#holdUps.countTaken()
    if (source !== undefined && this.#holdUps.of(id) > 0 && this.#isAlone(source)) {
      this.#holdUps.forgive(id)
    }
  }

  /** Gives up a source because of what it sent. */
  async fail(id: number, complaint: string): Promise<void> {
    const open = this.#sources.get(id)
    if (open === undefined) return
    const detail = `${open.source.nodeId}: ${complaint}`
    open.part.fail(open.source, clientError('RESEND_INVALID_ANSWER', detail))
    await this.#replace(open)
  }

  /** Nodes that were too slow may have messages after the last of all others; false when there are none. */
  async askSpared(): Promise<boolean> {
    const asked = this.#whatIsLeft()
    const started = await Promise.all(
      [...this.#parts.values()].map(async (part) => ({ part, sources: await part.startSpared(asked) })),
    )
    for (const { part, sources } of started) for (const source of sources) this.#add(part, source, asked)
    return started.some(({ sources }) => sources.length > 0)
  }

  cancel(): void {
    for (const part of this.#parts.values()) part.cancel()
    this.#parts.clear()
    this.#sources.clear()
  }

  #add(part: PartSources, started: StartedSource, asked: ResendSelection): void {
    const id = this.#nextId++
    this.#sources.set(id, { ...started, id, part, reading: undefined, arrived: undefined, hasEnded: false })
    this.#modules.merge.add(id)
    this.#modules.wanted.add(id, parseStreamPartId(part.streamPartId).partition, started.extent, asked)
  }

  #readOn(open: OpenSource): Promise<void> {
    return (open.reading ??= open.part.next(open.source).then((arrived) => void (open.arrived = arrived)))
  }

  async #takeArrived(open: OpenSource): Promise<void> {
    const { merge, wanted } = this.#modules
    const { arrived } = open
    if (arrived === undefined) return
    open.reading = undefined
    open.arrived = undefined
    if (arrived === 'failure') await this.#replace(open)
    else if (arrived === 'end') {
      open.hasEnded = true
      // Its batches are still to be checked.
      merge.end(open.id)
    } else merge.push(open.id, arrived, wanted.of(arrived))
  }

  async #replace(open: OpenSource): Promise<void> {
    this.#sources.delete(open.id)
    this.#modules.merge.end(open.id)
    this.#modules.wanted.remove(open.id)
    const asked = this.#whatIsLeft()
    const started = await open.part.replace(asked)
    if (started !== undefined) this.#add(open.part, started, asked)
  }

  async #spare(open: OpenSource): Promise<void> {
    if (open.hasEnded || !this.#sources.has(open.id)) return
    const heldUpMs = Math.round(this.#holdUps.of(open.id))
    const detail = `${open.source.nodeId}: others waited for it for ${heldUpMs} ms`
    const replaced = this.#replace(open)
    open.part.spare(open.source, clientError('RESEND_TOO_SLOW', detail))
    await replaced
  }

  #whatIsLeft(): ResendSelection {
    return this.#modules.wanted.after(this.#modules.merge.position)
  }

  #patienceMs(open: OpenSource): number {
    return this.#holdUps.patienceMs(open.id, this.#isAlone(open))
  }

  #isAlone(open: OpenSource): boolean {
    return !this.#others(open).some(({ hasEnded }) => !hasEnded)
  }

  /** Another node of the same stream part is ahead of it or has finished. */
  #canDoWithout(open: OpenSource, behind: readonly number[]): boolean {
    return this.#others(open).some(({ id }) => !behind.includes(id))
  }

  #others(open: OpenSource): readonly OpenSource[] {
    return [...this.#sources.values()].filter((other) => other !== open && other.part === open.part)
  }
}
