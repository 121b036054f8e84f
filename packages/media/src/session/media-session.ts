import type { Message, RunnelClient, Subscription, UrgentOptions, UrgentRate } from '@runnel/client'
import { Alarm, toHex, type Clock, type Random } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import {
  controlContent,
  controlIn,
  mistakeInMember,
  mistakeInPublishing,
  mistakeInTrack,
  type Catalogue,
  type Control,
  type Track,
} from '../catalogue/catalogue.ts'
import { Busyness } from '../core/busyness.ts'
import { decodeObject, type MediaObject } from '../core/media-object.ts'
import type { PlannedRendition } from '../core/rate-plan.ts'
import { Roster } from '../core/roster.ts'
import { mediaError } from '../errors.ts'
import { mediaLimits } from '../limits.ts'
import { controlPartition } from './control-partition.ts'
import { Goodbye } from './goodbye.ts'
import { replacedBy, type LeaveReason, type Member } from './member.ts'
import { NetworkRate } from './network-rate.ts'
import { RateShare } from './rate-share.ts'
import { takePlace } from './session-place.ts'
import { TrackPublisher, type TrackEvents } from './track-publisher.ts'
import { untilLinked } from './until-linked.ts'

/** How often it is checked whether this process is busy. */
const lookMs = 250
/** How often those who have just come are answered: one member can come anew as often as it likes. */
const answerEveryMs = 250
/** How a key frame is asked for. */
const keyRequest: UrgentOptions = { lifetimeMs: 1_000, priority: 40 }

/** The place of an object: see `UrgentOptions`. */
export interface ObjectPlace {
  readonly group: number
  readonly object: number
}

/** What happens in a session. */
export interface MediaEvents {
  /** Somebody came, left, or announced something new: its tracks, or what it decodes. */
  readonly members: [members: readonly Member[]]
  /** A member has left, and why; `members` follows. */
  readonly left: [member: Member, reason: LeaveReason]
  /** A frame of a member's track. */
  readonly object: [member: Member, object: MediaObject, place: ObjectPlace]
  /** A message in the stream, from this member too, that is not part of the session: a chat. */
  readonly message: [message: Message]
  /** Something could not be published; the session goes on. */
  readonly fault: [error: unknown]
}

type Listeners = { readonly [K in keyof MediaEvents]: Set<(...args: MediaEvents[K]) => void> }

export interface MediaSessionOptions {
  /** The name that others see: up to 40 characters. */
  readonly name: string
  /** Video codecs that it decodes, as WebCodecs names them. Default: none. */
  readonly decodes?: readonly string[] | undefined
  /** The `id` of an earlier session of the same user that is over, such as that of a reloaded page; the others drop it at once. */
  readonly replaces?: string | undefined
  /**
   * The rate that all tracks together may take from now on, in bits a second, including what messages take. Default: what the
   * network carries, as `client.urgentRate` reports it.
   */
  readonly rate?: AsyncIterable<number> | undefined
}

export interface MediaSessionModules {
  readonly client: Pick<RunnelClient, 'publish' | 'prepare' | 'subscribe' | 'getStream' | 'urgentRate'>
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
  /** False while timers are late for reasons other than work, such as in pages that nobody sees. Default: never. */
  readonly isTimely?: (() => boolean) | undefined
}

/** A track to publish; the session adds its id, its partition and its state. */
export type NewTrack = (
  | Omit<Extract<Track, { kind: 'audio' }>, 'id' | 'partition' | 'state'>
  | Omit<Extract<Track, { kind: 'video' }>, 'id' | 'partition' | 'state'>
) & {
  /** The lowest useful rate, in bits a second: below it, the track pauses. Default: all of `bitrate`. */
  readonly minBitsPerS?: number | undefined
  /** Among renditions of the same, 0 (default) is the lowest. Each has its own partition if the stream has enough. */
  readonly rendition?: number | undefined
}

/** How a session fared. */
export interface SessionCounters {
  /** Objects from senders without a catalogue, or of a track that is not in it. */
  readonly objectsUnknown: number
  readonly objectsMalformed: number
  readonly membersRefused: number
}

/**
 * Joins a session of sound and pictures in a stream: its members and their tracks. A client has one session in a stream at a time. Throws
 * SESSION_INVALID, and what `getStream` and `subscribe` throw.
 */
export async function openSession(
  streamId: string,
  options: MediaSessionOptions,
  modules: MediaSessionModules,
): Promise<MediaSession> {
  const { name, decodes = [], replaces } = options
  const mistake = unknownOption(options) ?? mistakeInMember({ name, decodes, replaces })
  if (mistake !== undefined) throw mediaError('SESSION_INVALID', mistake)
  const { id, partitions } = await modules.client.getStream(streamId)
  const leavePlace = takePlace(modules.client, id)
  try {
    const session = new MediaSession(streamId, { ...options, partitions }, modules)
    session.ended.addEventListener('abort', leavePlace)
    await session.start()
    return session
  } catch (error) {
    leavePlace()
    throw error
  }
}

const optionNames = ['name', 'decodes', 'replaces', 'rate'] satisfies (keyof MediaSessionOptions)[]

function unknownOption(options: object): string | undefined {
  const unknown = Object.keys(options).find((name) => !optionNames.some((known) => known === name))
  return unknown && `there is no option ${unknown}; the options are ${optionNames.join(', ')}`
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
  readonly #roster = new Roster()
  readonly #members = new Map<string, Member>()
  readonly #tracks = new Set<TrackPublisher>()
  readonly #share = new RateShare(this.#tracks)
  /** Undefined where the application gives a rate. */
  readonly #networkRate: NetworkRate | undefined
  readonly #groups = new Map<number, number>()
  readonly #subscriptions = new Map<number, Promise<Subscription>>()
  readonly #keyAskedMs = new Map<string, number>()
  readonly #counters = { objectsUnknown: 0, objectsMalformed: 0 }
  readonly #goodbye: Goodbye
  #nextTrack = 0
  /** When this member last said what it publishes. */
  #saidMs = -Infinity
  /** Resolves when that has been sent. */
  #said: Promise<void> = Promise.resolve()
  /** The calls of `linked` that wait for their partition. */
  readonly #linking = new Set<Promise<void>>()
  readonly #answer: Alarm
  /** What the application's rate was last. */
  #givenBitsPerS: number | undefined
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
    const [tracks, share] = [this.#tracks, this.#share]
    const urgentRate = (partition: number) => this.#urgentRate(partition)
    if (options.rate === undefined) this.#networkRate = new NetworkRate({ clock, tracks, share, urgentRate })
  }

  /** Subscribes, and says that this member is there. Called by `openSession`. */
  async start(): Promise<void> {
    await this.read([])
    // Not awaited: where nobody is there yet it would be for long.
    this.#changed()
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
    return [...this.#members.values()]
  }

  get counters(): SessionCounters {
    return { ...this.#counters, membersRefused: this.#roster.membersRefused }
  }

  /** Calls `listener`, which must not throw, until the returned function is called. */
  on<K extends keyof MediaEvents>(event: K, listener: (...args: MediaEvents[K]) => void): () => void {
    const listeners = this.#listeners[event] as Set<(...args: MediaEvents[K]) => void>
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  /** The clock for frames' timestamps: microseconds since the session began. */
  nowUs(): number {
    return Math.round((this.#clock.monotonicMs() - this.#startMs) * 1_000)
  }

  /** Announces a track. Frames given to `send` of the returned publisher go to the others. Throws SESSION_CLOSED and TRACK_INVALID. */
  publishTrack(newTrack: NewTrack, events: TrackEvents = {}): TrackPublisher {
    this.#requireOpen()
    if (this.#tracks.size >= mediaLimits.maxTracks)
      throw mediaError('TRACK_INVALID', `a member has up to ${mediaLimits.maxTracks} tracks`)
    const mistake = mistakeInPublishing(newTrack)
    if (mistake !== undefined) throw mediaError('TRACK_INVALID', mistake)
    const { minBitsPerS, rendition = 0, ...described } = newTrack
    const place = { id: this.#freeTrackId(), partition: this.#partitionOf(newTrack), state: 'live' } as const
    const track: Track = { ...described, ...place }
    const refused = mistakeInTrack(track)
    if (refused !== undefined) throw mediaError('TRACK_INVALID', refused)
    const plan = planOf(newTrack, minBitsPerS)
    const publisher = new TrackPublisher(
      track,
      { plan, rendition, events },
      {
        publish: (...message) => this.#publish(...message),
        changed: () => this.#changed(),
        nextGroup: (partition) => this.#nextGroup(partition),
        isAlone: ({ partition }) => this.#isAlone(partition),
        monotonicMs: () => this.#clock.monotonicMs(),
        closed: (closed) => {
          if (!this.#tracks.delete(closed)) return
          this.#networkRate?.changed()
          this.#shareGiven()
          this.#changed()
        },
      },
    )
    this.#tracks.add(publisher)
    this.#networkRate?.added()
    this.#shareGiven()
    this.#changed()
    return publisher
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
    // Links show what they carry only from the first frame on.
    this.#networkRate?.added()
  }

  /** Reads these partitions from now on, besides the one with sound and control messages: see `Track.partition`. Rejects with SESSION_CLOSED. */
  async read(partitions: Iterable<number>): Promise<void> {
    this.#requireOpen()
    const wanted = new Set([controlPartition, ...partitions])
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
    this.#networkRate?.close()
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
      { partitions: [partition], urgent: 'others' },
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
    } else if ('key' in control) this.#onKeyWanted(control.key)
    else this.#onPresence(idOf(message), message.publisherId, control)
  }

  #onObject(message: Message, content: Uint8Array, place: ObjectPlace): void {
    const object = decodeObject(content)
    if (object === undefined) {
      this.#counters.objectsMalformed++
      return
    }
    const member = this.#members.get(idOf(message))
    const track = member?.catalogue.tracks.find(({ id, kind }) => id === object.track && kind === object.kind)
    if (member === undefined || track === undefined) {
      this.#counters.objectsUnknown++
      return
    }
    // What it says may wait behind much else on a slow link, which what is urgent overtakes.
    this.#roster.seen(member.id, member.catalogue.session, this.#clock.monotonicMs())
    this.#emit('object', member, object, place)
  }

  #onKeyWanted({ session, track }: { readonly session: string; readonly track: number }): void {
    if (session !== this.#session) return
    for (const publisher of this.#tracks) if (publisher.track.id === track) publisher.keyWanted()
  }

  #onPresence(id: string, userId: string, control: Exclude<Control, { key: unknown }>): void {
    if ('leave' in control) {
      if (!this.#roster.left(id, control.session)) return
      this.#gone(id, 'goodbye')
      return this.#emit('members', this.members)
    }
    const { catalogue } = control
    if (catalogue.session === this.#session) return
    const seen = this.#roster.seen(id, catalogue.session, this.#clock.monotonicMs())
    if (seen === 'refused' || seen === 'left') return
    const before = this.#members.get(id)
    const member = { id, userId, catalogue }
    if (seen !== 'known')
      for (const other of replacedBy(member, this.#members.values())) {
        this.#roster.replaced(other.id)
        this.#gone(other.id, 'replaced')
      }
    this.#members.set(id, member)
    // Who has just come knows nobody.
    if (seen !== 'known') this.#answerSoon()
    if (seen !== 'known' || JSON.stringify(before?.catalogue) !== JSON.stringify(catalogue))
      this.#emit('members', this.members)
  }

  #gone(id: string, reason: LeaveReason): void {
    const member = this.#members.get(id)
    this.#members.delete(id)
    if (member !== undefined) this.#emit('left', member, reason)
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
      const gone = this.#roster.expire(nowMs)
      for (const id of gone) this.#gone(id, 'silence')
      if (gone.length > 0) this.#emit('members', this.members)
      this.#changed()
      this.#beat()
    })
  }

  #look(): void {
    if (!this.#isTimely()) this.#busyness.skip()
    else if (this.#busyness.called(this.#clock.monotonicMs(), lookMs)) this.#changed()
    this.#cancelLook = this.#clock.schedule(lookMs, () => this.#look())
  }

  #emit<K extends keyof MediaEvents>(event: K, ...args: MediaEvents[K]): void {
    for (const listener of this.#listeners[event] as Set<(...args: MediaEvents[K]) => void>) listener(...args)
  }

  #changed(): void {
    if (this.isClosed) return
    this.#saidMs = this.#clock.monotonicMs()
    this.#answer.set(Infinity)
    this.#said = this.#say({ catalogue: this.#catalogue() })
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

  #catalogue(): Catalogue {
    const { name, decodes = [], replaces } = this.#options
    const tracks = [...this.#tracks].map(({ track }) => track)
    const isBusy = this.isBusy || undefined
    const shortName = name.slice(0, mediaLimits.maxNameLength)
    return { version: 1, session: this.#session, name: shortName, replaces, isBusy, decodes, tracks }
  }

  #publish(content: unknown, partition: number, urgent: UrgentOptions, sent?: TrackEvents['sent']): void {
    if (this.isClosed) return
    this.#client
      .publish(this.#streamId, content, { partition, urgent })
      .then(({ neighbours }) => sent?.(neighbours))
      .catch((error: unknown) => this.#emit('fault', error))
  }

  #nextGroup(partition: number): number {
    const group = this.#groups.get(partition) ?? 0
    this.#groups.set(partition, group + 1)
    return group
  }

  #isAlone(partition: number): boolean {
    const there = [...this.#tracks].filter(({ track }) => track.partition === partition)
    return partition !== controlPartition && there.length === 1
  }

  #freeTrackId(): number {
    const taken = new Set([...this.#tracks].map(({ track }) => track.id))
    do this.#nextTrack = (this.#nextTrack + 1) % 256
    while (taken.has(this.#nextTrack))
    return this.#nextTrack
  }

  /** Sound is with what members say; a rendition after the other; a screen, which all look at, behind them. */
  #partitionOf({ kind, source, rendition = 0 }: NewTrack): number {
    const wanted = kind === 'audio' ? controlPartition : source === 'screen' ? 3 : 1 + rendition
    return Math.min(wanted, this.#options.partitions - 1)
  }

  async #followRate(): Promise<void> {
    try {
      for await (const bitsPerS of this.#options.rate ?? []) {
        if (this.isClosed) return
        this.#givenBitsPerS = bitsPerS
        this.#shareGiven()
      }
    } catch (error) {
      this.#emit('fault', error)
    }
  }

  /** Shares out anew what the application gave last, if it gives a rate. */
  #shareGiven(): void {
    if (this.#givenBitsPerS !== undefined) this.#share.share(this.#givenBitsPerS)
  }

  /** Not followed where it cannot be told: whoever may not publish hears of that when it does. */
  #urgentRate(partition: number): Promise<UrgentRate | undefined> {
    const fault = (error: unknown): undefined => void this.#emit('fault', error)
    return this.#client.urgentRate(this.#streamId, { partition }).catch(fault)
  }
}

/** Of a process: its urgent messages have a chain of their own, whose name is that of the others behind one character. */
export function idOf({ publisherId, messageChainId, urgent }: Message): string {
  return `${publisherId}/${urgent === undefined ? messageChainId : messageChainId.slice(1)}`
}

/** Throws TRACK_INVALID. */
function planOf(track: NewTrack, minBitsPerS: number | undefined): PlannedRendition {
  const { bitrate } = track
  if (bitrate === undefined) throw mediaError('TRACK_INVALID', 'it has no bitrate')
  const framesPerS = track.kind === 'audio' ? 1_000 / track.frameMs : track.framerate
  return { minBitsPerS: minBitsPerS ?? bitrate, maxBitsPerS: bitrate, framesPerS }
}
