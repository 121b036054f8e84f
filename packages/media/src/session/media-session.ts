import type { Message, Subscription, UrgentOptions, UrgentRate } from '@runnel/client'
import { Alarm, oneAtATime, toHex, type Clock } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { controlContent, controlIn, type Catalogue, type Control } from '../catalogue/catalogue.ts'
import { Busyness } from '../core/busyness.ts'
import { decodeObject } from '../core/media-object.ts'
import { mediaError } from '../errors.ts'
import { mediaLimits } from '../limits.ts'
import { checkOptions, type OptionNames } from '../options.ts'
import { controlPartition } from './control-partition.ts'
import { Goodbye } from './goodbye.ts'
import { memberIdOf, type Member } from './member.ts'
import { Members } from './members.ts'
import type { NewTrack } from './new-track.ts'
import { OwnTracks } from './own-tracks.ts'
import { Readers } from './readers.ts'
import type { MediaEvents, ObjectPlace } from './session-events.ts'
import type { MediaSessionModules, MediaSessionOptions } from './session-options.ts'
import { trackEvents, type TrackEvents, type TrackPublisher } from './track-publisher.ts'
import { untilLinked } from './until-linked.ts'

/** How often it is checked whether this process is busy. */
const lookMs = 250
/** How often those who have just come are answered: one member can come anew as often as it likes. */
const answerEveryMs = 250
/** How a key frame is asked for. */
const keyRequest: UrgentOptions = { lifetimeMs: 1_000, priority: 40 }

const eventKinds: OptionNames<MediaEvents> = {
  ...{ members: 'function', left: 'function', object: 'function', message: 'function', fault: 'function' },
}

const notRate = (given: unknown): string =>
  `rate gives bits a second, from 0; it gave ${typeof given === 'number' ? given : `something of type ${typeof given}`}`

type Listeners = { readonly [K in keyof MediaEvents]: Set<(...args: MediaEvents[K]) => void> }

/** How a session fared. */
export interface SessionCounters {
  /** Objects from senders without a catalogue, or of a track that is not in it. */
  readonly objectsUnknown: number
  readonly objectsMalformed: number
  readonly membersRefused: number
}

/** One member of a session: publishes tracks, and receives those of the others. Made by `openSession`. */
export class MediaSession implements AsyncDisposable {
  readonly #streamId: string
  readonly #options: MediaSessionOptions & { readonly partitions: number }
  readonly #client: MediaSessionModules['client']
  readonly #clock: Clock
  readonly #isTimely: () => boolean
  readonly #listeners: Listeners = {
    members: new Set(),
    left: new Set(),
    object: new Set(),
    message: new Set(),
    fault: new Set(),
  }
  /** Tells this session apart from others of the user. */
  readonly #session: string
  readonly #startMs: number
  readonly #members: Members
  readonly #tracks: OwnTracks
  readonly #readers = new Readers()
  readonly #subscriptions = new Map<number, Promise<Subscription>>()
  /** The partitions that were last asked for; changes of what is read do not overlap. */
  #wanted: ReadonlySet<number> = new Set([controlPartition])
  readonly #read = oneAtATime(() => this.#readWanted())
  readonly #keyAskedMs = new Map<string, number>()
  readonly #counters = { objectsUnknown: 0, objectsMalformed: 0 }
  readonly #goodbye: Goodbye
  /** When this member last said what it publishes. */
  #saidMs = -Infinity
  /** Whether it will at the end of this turn. */
  #isToSay = false
  /** Resolves when that has been sent. */
  #said: Promise<void> = Promise.resolve()
  /** The calls of `linked` that wait for their partition. */
  readonly #linking = new Set<Promise<void>>()
  readonly #answer: Alarm
  readonly #busyness = new Busyness()
  #cancel: () => void = () => {}
  #cancelLook: () => void = () => {}
  readonly #ending = new AbortController()

  constructor(
    streamId: string,
    options: MediaSessionOptions & { readonly partitions: number },
    { client, clock = systemClock, random = systemRandom, isTimely = () => true }: MediaSessionModules,
  ) {
    this.#streamId = streamId
    this.#options = options
    this.#client = client
    this.#clock = clock
    this.#isTimely = isTimely
    this.#session = toHex(random.bytes(8)).replace(/^0x/, '')
    this.#startMs = clock.monotonicMs()
    this.#answer = new Alarm({ onDue: () => this.#changed() }, { clock })
    const place = { streamId, partition: controlPartition, session: this.#session }
    this.#goodbye = new Goodbye(place, { client })
    this.#members = new Members({
      changed: () => {
        this.#tracks.chooseUpper()
        this.#emit('members', this.members)
      },
      left: (...gone) => this.#emit('left', ...gone),
      came: () => this.#answerSoon(),
    })
    const { partitions, rate } = options
    this.#tracks = new OwnTracks(
      { partitions, hasGivenRate: rate !== undefined },
      {
        clock,
        publish: (...message) => this.#publish(...message),
        changed: () => this.#changed(),
        urgentRate: (partition) => this.#urgentRate(partition),
        isRead: (partition) => this.#isRead(partition),
      },
    )
  }

  /** Subscribes, and says that this member is there. Called by `openSession`. */
  async start(): Promise<void> {
    await this.#read()
    this.#beat()
    this.#look()
    void this.#followRate()
  }

  /** Tells this session apart from others of the user: random, 16 digits. */
  get id(): string {
    return this.#session
  }

  /** Whether this computer has more to do than it can, as far as is known; the others are told, too. */
  get isBusy(): boolean {
    return this.#busyness.isBusy
  }

  /** Aborted when the session is closed. */
  get ended(): AbortSignal {
    return this.#ending.signal
  }

  get isClosed(): boolean {
    return this.ended.aborted
  }

  get members(): readonly Member[] {
    return this.#members.all
  }

  get counters(): SessionCounters {
    return { ...this.#counters, membersRefused: this.#members.refused }
  }

  /** Calls `listener`, which must not throw, until the returned function is called. Throws OPTIONS_INVALID. */
  on<K extends keyof MediaEvents>(event: K, listener: (...args: MediaEvents[K]) => void): () => void {
    checkOptions('on', { [event]: listener }, eventKinds)
    const listeners = this.#listeners[event] as Set<(...args: MediaEvents[K]) => void>
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  /** The clock for frames' timestamps: microseconds since the session began. */
  nowUs(): number {
    return Math.round((this.#clock.monotonicMs() - this.#startMs) * 1_000)
  }

  /** Announces a track. Frames given to `send` of the returned publisher go to the others. Throws SESSION_CLOSED, OPTIONS_INVALID and TRACK_INVALID. */
  publishTrack(newTrack: NewTrack, events: TrackEvents = {}): TrackPublisher {
    this.#requireOpen()
    checkOptions('publishTrack', events, trackEvents)
    return this.#tracks.publish(newTrack, events)
  }

  /**
   * Resolves when a partition has its first link to a member, who then knows the tracks of this one: frames of before are lost, as they wait for
   * nobody. Calls side by side resolve together, so that what begins then is in time. After 1.25 s a partition is waited for no longer; at once
   * where nobody is there. Rejects as publishing does.
   */
  async linked(partition: number): Promise<void> {
    const modules = { client: this.#client, clock: this.#clock, signal: this.ended }
    const linking = untilLinked(this.#streamId, partition, this.#said, modules)
    this.#linking.add(linking)
    try {
      await linking
    } finally {
      this.#linking.delete(linking)
    }
    await Promise.allSettled(this.#linking)
    this.#tracks.linked()
  }

  /**
   * Reads these partitions from now on, besides the one with sound and control messages: see `Track.partition`. The others are told, as they
   * publish upper renditions only where somebody reads them. Rejects with SESSION_CLOSED.
   */
  async read(partitions: Iterable<number>): Promise<void> {
    this.#wanted = new Set([controlPartition, ...partitions])
    await this.#read()
  }

  async #readWanted(): Promise<void> {
    this.#requireOpen()
    const [wanted, before] = [this.#wanted, this.#reads.join()]
    for (const [partition, subscription] of this.#subscriptions) {
      if (wanted.has(partition)) continue
      this.#subscriptions.delete(partition)
      await (await subscription).unsubscribe()
      this.#requireOpen()
    }
    const added = [...wanted].filter((partition) => !this.#subscriptions.has(partition))
    await Promise.all(
      added.map((partition) => {
        const subscription = this.#subscribe(partition)
        this.#subscriptions.set(partition, subscription)
        return subscription
      }),
    )
    // Not awaited: where nobody is there yet it would be for long.
    if (this.#reads.join() !== before) this.#changed()
  }

  /** Asks a member for a key frame of a track, once a second at most. */
  requestKey(memberId: string, track: number): void {
    const session = this.#members.get(memberId)?.catalogue.session
    if (session === undefined) return
    const key = `${session} ${track}`
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - (this.#keyAskedMs.get(key) ?? -Infinity) < mediaLimits.keyRequestEveryMs) return
    this.#keyAskedMs.set(key, nowMs)
    this.#publish(controlContent({ key: { session, track } }), controlPartition, keyRequest)
  }

  /** Sends a message to all in the stream, reliably and in order: they get it as `MediaEvents.message`. Rejects with SESSION_CLOSED, and as `publish` does. */
  async say(content: unknown): Promise<void> {
    this.#requireOpen()
    await this.#publishReliably(content)
  }

  /** Says goodbye, and leaves. The client stays open. Idempotent. */
  async close(): Promise<void> {
    if (this.isClosed) return
    this.#ending.abort()
    this.#cancel()
    this.#cancelLook()
    this.#answer.set(Infinity)
    this.#tracks.close()
    await this.#say({ leave: true, session: this.#session })
    await Promise.allSettled([...this.#subscriptions.values()].map(async (one) => (await one).unsubscribe()))
  }

  /** As `close`, but the goodbye leaves within this call: for a page that is being closed (`pagehide`), where nothing runs in a later turn. */
  leave(): void {
    this.#goodbye.say()
    void this.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #subscribe(partition: number): Promise<Subscription> {
    const subscription = this.#client.subscribe(
      this.#streamId,
      {
        ...{ partitions: [partition], urgent: 'others' },
        onEnded: (error) => {
          this.#subscriptions.delete(partition)
          this.#emit('fault', error)
        },
      },
      (message) => this.#onMessage(message),
    )
    // Otherwise it could not be tried again.
    subscription.catch(() => this.#subscriptions.delete(partition))
    return subscription
  }

  #onMessage(message: Message): void {
    if (this.isClosed) return
    const { content, urgent } = message
    if (urgent !== undefined && content instanceof Uint8Array) return this.#onObject(message, content, urgent)
    const control = controlIn(message)
    if (control === undefined) {
      if (urgent === undefined) this.#emit('message', message)
    } else if ('leave' in control) this.#members.saidGoodbye(memberIdOf(message), control.session)
    else if ('catalogue' in control) this.#onCatalogue(message, control.catalogue)
    else if ('reads' in control) this.#onReads(control.reads)
    else if (control.key.session === this.#session) this.#tracks.keyWanted(control.key.track)
  }

  #onObject(message: Message, content: Uint8Array, place: ObjectPlace): void {
    const object = decodeObject(content)
    if (object === undefined) {
      this.#counters.objectsMalformed++
      return
    }
    const member = this.#members.get(memberIdOf(message))
    const track = member?.catalogue.tracks.find(({ id, kind }) => id === object.track && kind === object.kind)
    if (member === undefined || track === undefined) {
      this.#counters.objectsUnknown++
      return
    }
    this.#members.heard(member, this.#clock.monotonicMs())
    this.#emit('object', member, object, place)
  }

  #onCatalogue(message: Message, catalogue: Catalogue): void {
    if (catalogue.session === this.#session) return
    const member = { id: memberIdOf(message), userId: message.publisherId, catalogue }
    this.#members.announced(member, this.#clock.monotonicMs())
  }

  #isRead(partition: number): boolean {
    // Members beyond those that there is room for are not heard.
    if (this.#options.readers !== 'members' || this.#members.refused > 0) return true
    return this.#readers.read(partition, this.members, this.#clock.monotonicMs())
  }

  #onReads(partitions: readonly number[]): void {
    this.#readers.heard(partitions, this.#clock.monotonicMs())
    this.#tracks.chooseUpper()
  }

  /** Says anew that it is there, and lets go of who does not. */
  #beat(): void {
    // Whoever heard that a member is gone may have closed it.
    if (this.isClosed) return
    void this.#goodbye.prepare()
    this.#cancel = this.#clock.schedule(mediaLimits.catalogueEveryMs, () => {
      const nowMs = this.#clock.monotonicMs()
      for (const [key, askedMs] of this.#keyAskedMs)
        if (nowMs - askedMs >= mediaLimits.keyRequestEveryMs) this.#keyAskedMs.delete(key)
      this.#members.expire(nowMs)
      this.#tracks.chooseUpper()
      this.#changed()
      this.#beat()
    })
  }

  #look(): void {
    if (!this.#isTimely()) this.#busyness.skip()
    else if (this.#busyness.called(this.#clock.monotonicMs(), lookMs)) this.#changed()
    this.#tracks.useBusyness(this.isBusy)
    // Whoever heard of a rate may have closed it.
    if (!this.isClosed) this.#cancelLook = this.#clock.schedule(lookMs, () => this.#look())
  }

  #emit<K extends keyof MediaEvents>(event: K, ...args: MediaEvents[K]): void {
    for (const listener of this.#listeners[event] as Set<(...args: MediaEvents[K]) => void>) listener(...args)
  }

  #changed(): void {
    if (this.isClosed) return
    this.#saidMs = this.#clock.monotonicMs()
    this.#answer.set(Infinity)
    if (this.#isToSay) return
    this.#isToSay = true
    this.#said = Promise.resolve().then(() => this.#sayCatalogue())
  }

  /** Once for all that changed in one turn, such as the renditions of a camera. */
  async #sayCatalogue(): Promise<void> {
    this.#isToSay = false
    if (!this.isClosed) await this.#say({ catalogue: this.#catalogue() })
  }

  /** At once, unless there was an answer just now. */
  #answerSoon(): void {
    const dueMs = this.#saidMs + answerEveryMs
    if (this.#clock.monotonicMs() >= dueMs) this.#changed()
    else if (!this.isClosed) this.#answer.set(dueMs)
  }

  async #say(control: Control): Promise<void> {
    await this.#publishReliably(controlContent(control)).catch((error: unknown) => this.#emit('fault', error))
  }

  async #publishReliably(content: unknown): Promise<void> {
    await this.#client.publish(this.#streamId, content, { partition: controlPartition })
  }

  #requireOpen(): void {
    if (this.isClosed) throw mediaError('SESSION_CLOSED', this.#streamId)
  }

  get #reads(): readonly number[] {
    return [...this.#subscriptions.keys()].sort((a, b) => a - b)
  }

  #catalogue(): Catalogue {
    const { name, decodes = [], replaces } = this.#options
    const tracks = this.#tracks.described
    const isBusy = this.isBusy || undefined
    const shortName = name.slice(0, mediaLimits.maxNameLength)
    const [session, reads] = [this.#session, this.#reads]
    return { version: 1, session, name: shortName, replaces, isBusy, decodes, tracks, reads }
  }

  #publish(content: unknown, partition: number, urgent: UrgentOptions, sent?: TrackEvents['sent']): void {
    if (this.isClosed) return
    this.#client
      .publish(this.#streamId, content, { partition, urgent })
      .then(({ neighbours }) => sent?.(neighbours))
      .catch((error: unknown) => this.#emit('fault', error))
  }

  async #followRate(): Promise<void> {
    try {
      for await (const bitsPerS of this.#options.rate ?? []) {
        if (this.isClosed) return
        if (typeof bitsPerS === 'number' && bitsPerS >= 0) this.#tracks.useRate(bitsPerS)
        else this.#emit('fault', mediaError('OPTIONS_INVALID', notRate(bitsPerS)))
      }
    } catch (error) {
      this.#emit('fault', error)
    }
  }

  /** Not followed where it cannot be told: whoever may not publish hears of that when it does. */
  #urgentRate(partition: number): Promise<UrgentRate | undefined> {
    const fault = (error: unknown): undefined => void this.#emit('fault', error)
    return this.#client.urgentRate(this.#streamId, { partition }).catch(fault)
  }
}
