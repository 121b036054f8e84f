import type { Message, Recording, RunnelClient, Subscription } from '@runnel/client'
import { dropOldest, isRunnelError, type Clock } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { controlContent, controlIn, type Control } from '../catalogue/catalogue.ts'
import { decodeObject } from '../core/media-object.ts'
import { mediaLimits } from '../limits.ts'
import { checkOptions, type OptionNames } from '../options.ts'
import { memberIdOf } from '../session/member.ts'
import { NoteTaker, type Moment } from './note-taker.ts'
import { noteContent, type RecordingNote } from './recording-note.ts'
import { allPartitions, notePartition, objectPartition } from './partitions.ts'

export interface SessionRecordingOptions {
  /** A note could not be published; the recording goes on. */
  readonly onFault?: ((error: unknown) => void) | undefined
}

const names: OptionNames<SessionRecordingOptions> = { onFault: true }

export interface SessionRecorderModules {
  readonly client: Pick<RunnelClient, 'record' | 'subscribe' | 'publish' | 'getStream'>
  readonly clock?: Clock | undefined
}

/** What was recorded so far. */
export interface RecordedCounters {
  /** Frames in the recording. */
  readonly recorded: number
  /** Frames that could not be published there. */
  readonly failed: number
  /** Key frames that no note names. */
  readonly keysLeftOut: number
}

/**
 * Records a session into another stream, which storage nodes keep: the frames as they were signed, and the recorder's notes of who was there
 * and where key frames are. That stream should have one partition more than the session's. Throws what `record` and `subscribe` throw, and errors of
 * the registry.
 */
export async function recordSession(
  from: string,
  to: string,
  options: SessionRecordingOptions,
  modules: SessionRecorderModules,
): Promise<SessionRecorder> {
  checkOptions('recordSession', options, names)
  const { client } = modules
  const [source, target] = await Promise.all([client.getStream(from), client.getStream(to)])
  const recorder = new SessionRecorder({ from, to }, options, modules)
  const partitions = allPartitions(source.partitions)
  await recorder.start({ partitions, toPartitions: target.partitions })
  return recorder
}

/** A recording of a session under way. Made by `recordSession`. */
export class SessionRecorder implements AsyncDisposable {
  readonly #from: string
  readonly #to: string
  readonly #options: SessionRecordingOptions
  readonly #client: SessionRecorderModules['client']
  readonly #clock: Clock
  readonly #notes: NoteTaker
  /** By user, when key frames of its tracks were first asked for of late, and how many were. */
  readonly #keysAsked = new Map<string, { readonly sinceMs: number; count: number }>()
  #recordings: readonly Recording[] = []
  #partitions: readonly number[] = []
  #subscription: Subscription | undefined
  #cancel: () => void = () => {}
  #stopping: Promise<void> | undefined

  constructor(
    { from, to }: { readonly from: string; readonly to: string },
    options: SessionRecordingOptions,
    { client, clock = systemClock }: SessionRecorderModules,
  ) {
    this.#from = from
    this.#to = to
    this.#options = options
    this.#client = client
    this.#clock = clock
    this.#notes = new NoteTaker(this.#moment())
  }

  get counters(): RecordedCounters {
    const sum = (of: 'recorded' | 'failed') => this.#recordings.reduce((total, one) => total + one[of], 0)
    return { recorded: sum('recorded'), failed: sum('failed'), keysLeftOut: this.#notes.keysLeftOut }
  }

  /** Begins to record these partitions. Called by `recordSession`. */
  async start({
    partitions,
    toPartitions,
  }: {
    readonly partitions: readonly number[]
    readonly toPartitions: number
  }): Promise<void> {
    try {
      const how = { urgent: true, onEnded: (error: Error) => this.#hearsNoMore(error) }
      this.#subscription = await this.#client.subscribe(this.#from, how, (message) => this.#see(message))
      const begun = await Promise.allSettled(
        partitions.map((partition) =>
          this.#client.record(this.#from, this.#to, {
            partitions: [partition],
            toPartition: objectPartition(partition, toPartitions),
          }),
        ),
      )
      this.#recordings = begun.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      const failed = begun.find((one) => one.status === 'rejected')
      // Where it may not read any more, it was stopped meanwhile, and knew of none of them.
      if (this.#stopping !== undefined) await this.#stopRecordings()
      if (failed !== undefined) throw failed.reason
    } catch (error) {
      await this.stop()
      throw error
    }
    this.#partitions = partitions
    this.#sayWhatIsRead()
    await this.#write(this.#notes.take(this.#moment()))
    if (this.#stopping === undefined) this.#next()
  }

  /** Resolves when everything that came before is published. Idempotent. */
  stop(): Promise<void> {
    this.#stopping ??= this.#end()
    return this.#stopping
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #end(): Promise<void> {
    this.#cancel()
    await this.#subscription?.unsubscribe()
    await this.#stopRecordings()
    if (this.#recordings.length > 0) await this.#write({ ...this.#notes.take(this.#moment()), isLast: true })
  }

  async #stopRecordings(): Promise<void> {
    await Promise.all(this.#recordings.map((recording) => recording.stop()))
  }

  /** Without what is said of tracks nobody could play what is recorded from then on. */
  #hearsNoMore(error: Error): void {
    this.#options.onFault?.(error)
    void this.stop()
  }

  #see(message: Message): void {
    const { content, urgent, publisherId: userId } = message
    const id = memberIdOf(message)
    if (urgent === undefined || !(content instanceof Uint8Array)) {
      const control = controlIn(message)
      if (control === undefined) return
      const [member, moment] = [{ id, userId }, this.#moment()]
      const before = this.#notes.takeBefore(member, control, moment)
      if (before !== undefined) void this.#write(before)
      const added = this.#notes.control(member, control, moment)
      if ('catalogue' in control)
        for (const track of added) this.#wantKey(userId, control.catalogue.session, track)
    } else {
      const object = decodeObject(content)
      if (object !== undefined) this.#notes.object(id, object, this.#moment())
    }
  }

  /** So that what is recorded begins with pictures. An ordinary message, as it has to reach a session of this client, too, and comes once a track. */
  #wantKey(userId: string, session: string, track: number): void {
    if (!this.#mayAsk(userId)) return
    this.#tell({ key: { session, track } }).catch((error: unknown) => this.#options.onFault?.(error))
  }

  /** So that members publish all their renditions. Who may not publish there is heard by nobody: see `MediaSessionOptions.readers`. */
  #sayWhatIsRead(): void {
    this.#tell({ reads: this.#partitions }).catch(() => {})
  }

  async #tell(control: Control): Promise<void> {
    await this.#client.publish(this.#from, controlContent(control), { partition: 0 })
  }

  /** So many times a second as a member has tracks: a user can announce others as often as it likes, at no cost. */
  #mayAsk(userId: string): boolean {
    const nowMs = this.#clock.monotonicMs()
    const asked = this.#keysAsked.get(userId)
    if (asked !== undefined && nowMs - asked.sinceMs < mediaLimits.keyRequestEveryMs)
      return asked.count++ < mediaLimits.maxTracks
    this.#keysAsked.delete(userId)
    this.#keysAsked.set(userId, { sinceMs: nowMs, count: 1 })
    dropOldest(this.#keysAsked, mediaLimits.maxMembers)
    return true
  }

  #next(): void {
    this.#cancel = this.#clock.schedule(mediaLimits.noteEveryMs, () => {
      this.#sayWhatIsRead()
      void this.#write(this.#notes.take(this.#moment()))
      this.#next()
    })
  }

  /** Never rejects. */
  async #write(note: RecordingNote): Promise<void> {
    try {
      await this.#client.publish(this.#to, noteContent(note), { partition: notePartition })
    } catch (error) {
      this.#options.onFault?.(error)
      // Nothing is recorded any more, and the timer would keep the process.
      if (isRunnelError(error, 'CLIENT_CLOSED')) this.#cancel()
    }
  }

  #moment(): Moment {
    return { atMs: this.#clock.now(), nowMs: this.#clock.monotonicMs() }
  }
}
