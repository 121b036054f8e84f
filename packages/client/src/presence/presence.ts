import { Alarm, isRunnelError, type Clock, type NodeId, type StreamId } from '@runnel/protocol'
import { clientError } from '../errors.ts'
import { BoundedQueue } from '../queue/bounded-queue.ts'
import type { SidePart } from '../side/side-part.ts'
import { presenceLimits } from './limits.ts'
import { MemberTable, type Member, type PresenceEvent } from './member-table.ts'
import type { OwnPresence, Wanted } from './own-presence.ts'
import { presenceBytes, presenceChain, presenceData, presenceIn, presencePrefix } from './presence-message.ts'

/** Whether others see this client, and how long it watches. */
export interface PresenceOptions {
  /** Enter from the beginning, as `enter` with this value does. */
  readonly as?: unknown
  /** Ends the presence, as `close` does. */
  readonly signal?: AbortSignal | undefined
}

export interface PresenceModules {
  readonly clock: Clock
  readonly nodeId: NodeId
  readonly side: SidePart
  /** This client as a member, which several presences of a stream share. */
  readonly own: OwnPresence
  /** Whether what is published in the stream now is encrypted. */
  readonly isEncrypted: (streamId: StreamId) => Promise<boolean>
  readonly onClosed: (presence: Presence) => void
}

/**
 * Who is in a stream: members that want to be seen, and this client if it entered. An async iterable of changes since it was made; members
 * that are already there join within ten seconds.
 */
export class Presence implements AsyncIterable<PresenceEvent, undefined>, AsyncDisposable {
  readonly streamId: StreamId
  readonly #modules: PresenceModules
  readonly #table = new MemberTable(presenceLimits)
  readonly #events = new BoundedQueue<PresenceEvent>({
    maxItems: presenceLimits.maxPresenceEvents,
    maxBytes: Infinity,
  })
  readonly #alarm: Alarm
  readonly #stop: () => void
  #hasEntered = false
  #isClosed = false

  constructor(modules: PresenceModules) {
    const { side, clock } = modules
    this.streamId = side.stream.id
    this.#modules = modules
    this.#alarm = new Alarm({ onDue: () => this.#expire() }, { clock })
    this.#stop = side.on(presencePrefix, (message) => {
      const said = presenceIn(message)
      if (said === undefined) return
      const time = { nowMs: clock.monotonicMs(), wallMs: clock.now() }
      this.#tell(this.#table.take(said, time))
      this.#alarm.set(this.#table.dueMs)
    })
    side.join()
  }

  /** The members that are there now. */
  get members(): readonly Member[] {
    return this.#table.members
  }

  /** How many members are there now. */
  get count(): number {
    return this.#table.size
  }

  /** How many messages of members were left out: too many members, too frequent, or by a wrong clock. */
  get refused(): number {
    return this.#table.refused
  }

  /**
   * Shows this client to others, with data about itself: JSON of at most 256 bytes, unencrypted. Call it again to change the data.
   * Resolves when others are told: at once, or within ten seconds if something was told before. Throws INVALID_ARGUMENT, CLIENT_CLOSED,
   * and PRESENCE_NOT_ENCRYPTED if there are data in an encrypted stream.
   */
  async enter(data?: unknown): Promise<void> {
    const json = presenceData(data)
    if (json !== undefined && (await this.#modules.isEncrypted(this.streamId)))
      throw clientError('PRESENCE_NOT_ENCRYPTED', this.streamId)
    if (this.#isClosed) throw clientError('CLIENT_CLOSED', 'or this presence')
    if (!this.#modules.own.claim(this))
      throw clientError('INVALID_ARGUMENT', `another presence of this client has entered ${this.streamId}`)
    this.#hasEntered = true
    await this.#modules.own.want({ data: json })
  }

  /** Shows this client no longer. Resolves when others are told, within ten seconds. */
  async leave(): Promise<void> {
    if (!this.#hasEntered) return
    this.#hasEntered = false
    await this.#modules.own.want(undefined)
  }

  /** Leaves at once if it had entered, and ends the iteration. Idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (this.#hasEntered) this.#modules.own.close()
    this.#stop()
    this.#alarm.set(Infinity)
    this.#events.close()
    this.#modules.onClosed(this)
  }

  [Symbol.asyncIterator](): AsyncIterator<PresenceEvent, undefined> {
    return {
      next: () => this.#events.next(),
      return: () => {
        this.close()
        return Promise.resolve({ done: true, value: undefined })
      },
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close()
    return Promise.resolve()
  }

  #expire(): void {
    for (const lost of this.#table.expire(this.#modules.clock.monotonicMs())) this.#tell(lost)
    this.#alarm.set(this.#table.dueMs)
  }

  #tell(event: PresenceEvent | undefined): void {
    if (event !== undefined) this.#events.push(event, 0)
  }
}

/** Floods what this client says. What cannot be sent now is said again with the next. */
export function sayPresence(side: SidePart, nodeId: NodeId, wanted: Wanted | undefined): void {
  try {
    side.publish(presenceChain(nodeId), presenceBytes({ isHere: wanted !== undefined, data: wanted?.data }))
  } catch (error) {
    if (!isRunnelError(error)) throw error
  }
}
