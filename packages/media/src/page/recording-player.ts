/// <reference lib="dom" />
import { tracksShown } from '../catalogue/ladder.ts'
import { mediaError } from '../errors.ts'
import { mediaLimits } from '../limits.ts'
import { PlaybackClock } from '../recording/playback-clock.ts'
import type { MediaRecording, RecordedObject } from '../recording/recording.ts'
import type { Member } from '../session/member.ts'
import { RecordedMember, type What } from './recorded-member.ts'
import { resumeInterrupted } from './resume-interrupted.ts'

/** How often it decodes, plays and paints. */
const tickMs = 20
/** It plays once this much of what comes next is there. */
const readyMs = 300
/** Frames that the recorder had this long before it published a message are in it or in an earlier one. */
const packedMs = 250
/** Reading begins this long before a key frame: its message is dated a little apart from the note. */
const marginMs = 20

/** How fast a recording is played; sound is heard up to 2. */
export const playbackRates = [0.5, 1, 2, 4] as const

export interface RecordingEvents {
  /** A member came, left or changed at the moment that is played. */
  readonly members: [members: readonly Member[]]
  /** A picture was painted, with its time in the recording; the first one after `seek` is from a little before. */
  readonly painted: [memberId: string, what: What, atMs: number]
  /** After `seek`: all pictures of that moment are painted, as far as there are any. */
  readonly seeked: [atMs: number]
  /** A part is missing or damaged: playback goes on. Reported once after each `seek`. RECORDING_DAMAGED, or why nothing can be read. */
  readonly fault: [error: unknown]
}

type Listeners = { readonly [K in keyof RecordingEvents]: Set<(...args: RecordingEvents[K]) => void> }

/** Plays a recording: from any moment, at several rates, sound and pictures in step. */
export class RecordingPlayer {
  readonly #recording: MediaRecording
  readonly #context: AudioContext
  readonly #output: AudioNode
  readonly #clock: PlaybackClock
  readonly #listeners: Listeners = {
    members: new Set(),
    painted: new Set(),
    seeked: new Set(),
    fault: new Set(),
  }
  readonly #players = new Map<string, RecordedMember>()
  #members: readonly Member[] = []
  #rendition = 1
  #isPaused = true
  #reading = new AbortController()
  #readToMs = -Infinity
  #room: () => void = () => {}
  #hasFault = false
  #isSeeking = false
  #timer: ReturnType<typeof setInterval> | undefined
  #stopResuming: () => void = () => {}

  /** `context` and `output` as of `SessionPlayer`. */
  constructor(recording: MediaRecording, context: AudioContext, output: AudioNode = context.destination) {
    this.#recording = recording
    this.#context = context
    this.#output = output
    this.#clock = new PlaybackClock(recording.range.fromMs)
  }

  /** Shows a moment, paused; by default the beginning. Idempotent. */
  start(atMs: number = this.#recording.range.fromMs): void {
    if (this.#timer !== undefined) return
    this.#timer = setInterval(() => this.#tick(), tickMs)
    this.#stopResuming = resumeInterrupted(this.#context)
    this.seek(atMs)
  }

  /** Calls `listener`, which must not throw, until the returned function is called. */
  on<K extends keyof RecordingEvents>(event: K, listener: (...args: RecordingEvents[K]) => void): () => void {
    const listeners = this.#listeners[event] as Set<(...args: RecordingEvents[K]) => void>
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  /** The moment that is played now, in Unix milliseconds of the recorder's clock. */
  get positionMs(): number {
    const { fromMs, toMs } = this.#recording.range
    return Math.min(toMs, Math.max(fromMs, this.#clock.positionMs(performance.now())))
  }

  /** How long it has played so far, without pauses and waits, in milliseconds. */
  get ranMs(): number {
    return this.#clock.ranMs(performance.now())
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Whether it should play but waits for the storage node. */
  get isWaiting(): boolean {
    return !this.#isPaused && !this.#clock.isRunning
  }

  /** The members at the moment that is played. */
  get members(): readonly Member[] {
    return this.#members
  }

  get rate(): number {
    return this.#clock.rate
  }

  /** Above 2 without sound: at twice the speed words are understood, at four times they are not. */
  set rate(rate: (typeof playbackRates)[number]) {
    this.#clock.setRate(rate, performance.now())
    this.#room()
  }

  /** The canvas with a member's camera (or file), or its screen; undefined if it shows none. */
  canvasOf(memberId: string, what: What = 'camera'): HTMLCanvasElement | undefined {
    return this.#players.get(memberId)?.canvasOf(what)
  }

  /** Plays, from the beginning if it is at the end. Idempotent. */
  play(): void {
    this.#isPaused = false
    if (this.positionMs >= this.#recording.range.toMs) this.seek(this.#recording.range.fromMs)
  }

  /** Idempotent. */
  pause(): void {
    this.#isPaused = true
    this.#hold()
  }

  /** Goes to a moment, and shows it as soon as it can. */
  seek(toMs: number): void {
    const { range } = this.#recording
    const positionMs = Math.min(range.toMs, Math.max(range.fromMs, toMs))
    this.#hold()
    this.#clock.jump(positionMs, performance.now())
    for (const player of this.#players.values()) player.clear()
    this.#hasFault = false
    this.#isSeeking = true
    this.#reading.abort()
    this.#reading = new AbortController()
    this.#readToMs = -Infinity
    this.#room()
    this.#update()
    void this.#read(this.#startMs(positionMs), this.#reading.signal)
  }

  /** Sets the highest useful rendition: 0 for small tiles. */
  limitRendition(highest: number): void {
    if (highest === this.#rendition) return
    this.#rendition = highest
    if (this.#timer !== undefined) this.seek(this.positionMs)
  }

  /** Idempotent. */
  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#stopResuming()
    this.#reading.abort()
    this.#room()
    for (const player of this.#players.values()) player.close()
    this.#players.clear()
  }

  /** Where the oldest of the groups begins that are shown then. */
  #startMs(positionMs: number): number {
    const { timeLine } = this.#recording
    const earliestMs = positionMs - mediaLimits.maxKeyDistanceMs
    const starts = timeLine.membersAt(positionMs).flatMap(({ id, catalogue }) =>
      tracksShown(catalogue.tracks, this.#rendition).map((track) => {
        const keyMs = timeLine.keyBefore(id, track.id, positionMs)?.atMs ?? -Infinity
        return Math.max(keyMs - marginMs, earliestMs)
      }),
    )
    return Math.min(positionMs - marginMs, ...starts)
  }

  /** Never rejects. */
  async #read(fromMs: number, signal: AbortSignal): Promise<void> {
    const onDamage = (reason: string): void => {
      if (!signal.aborted) this.#damaged(reason)
    }
    try {
      const objects = this.#recording.read(fromMs, { rendition: this.#rendition, signal, onDamage })
      for await (const object of objects) {
        if (signal.aborted) return
        await this.#take(object)
        // Who hears of a picture, or that the moment is shown, may go to another one.
        if (signal.aborted) return
        // Not what publishers say: one could hold up all others.
        this.#readToMs = object.recordedMs - packedMs
        while (this.#isFarAhead() && !signal.aborted)
          await new Promise<void>((resolve) => (this.#room = resolve))
      }
      if (!signal.aborted) this.#readToMs = Infinity
    } catch (error) {
      if (!signal.aborted) this.#emit('fault', error)
    }
  }

  async #take(recorded: RecordedObject): Promise<void> {
    const { memberId, object, atMs } = recorded
    const member = this.#recording.timeLine.membersAt(atMs).find(({ id }) => id === memberId)
    const track = member?.catalogue.tracks.find(({ id, kind }) => id === object.track && kind === object.kind)
    if (member !== undefined && track !== undefined) await this.#playerOf(member).push(track, recorded)
    // Who waits for the first picture does not wait for a tick, too.
    if (!this.#clock.isRunning) this.#show()
  }

  #isFarAhead(): boolean {
    const aheadMs = mediaLimits.readAheadMs * Math.max(1, this.#clock.rate)
    return this.#readToMs > this.positionMs + aheadMs
  }

  #tick(): void {
    this.#run()
    this.#show()
    if (!this.#isFarAhead()) this.#room()
  }

  /** Plays and paints what is due. */
  #show(): void {
    this.#update()
    const nowMs = performance.now()
    const positionMs = this.#clock.positionMs(nowMs)
    let isSettled = positionMs <= this.#readToMs
    for (const [id, player] of this.#players) {
      const offsetMs = this.#recording.timeLine.offsetMs(id, positionMs)
      // Who sent nothing.
      if (offsetMs === undefined) continue
      const timestampUs = (positionMs - offsetMs) * 1_000
      player.tick({ timestampUs, rate: this.#clock.rate, isRunning: this.#clock.isRunning })
      isSettled &&= player.isSettled(timestampUs)
    }
    if (!this.#isSeeking || !isSettled) return
    this.#isSeeking = false
    this.#emit('seeked', positionMs)
  }

  /** Goes on when there is something to play, and waits when there is not. */
  #run(): void {
    const nowMs = performance.now()
    const positionMs = this.#clock.positionMs(nowMs)
    if (positionMs >= this.#recording.range.toMs) return this.pause()
    if (this.#clock.isRunning) {
      if (positionMs > this.#readToMs) this.#hold()
    } else if (!this.#isPaused && this.#readToMs >= positionMs + readyMs * this.#clock.rate)
      this.#clock.run(nowMs)
  }

  #hold(): void {
    this.#clock.hold(performance.now())
    for (const player of this.#players.values()) player.hush()
  }

  /** Who is there now. */
  #update(): void {
    const members = this.#recording.timeLine.membersAt(this.positionMs)
    for (const { id, catalogue } of members) this.#players.get(id)?.show(catalogue.tracks, this.#rendition)
    if (members === this.#members) return
    this.#members = members
    for (const [id, player] of this.#players)
      if (!members.some((member) => member.id === id)) player.show([], 0)
    this.#emit('members', members)
  }

  #playerOf({ id }: Member): RecordedMember {
    const known = this.#players.get(id)
    if (known !== undefined) return known
    const player = new RecordedMember({
      ...{ context: this.#context, output: this.#output },
      painted: (what, timestampUs) => {
        const offsetMs = this.#recording.timeLine.offsetMs(id, this.positionMs) ?? 0
        this.#emit('painted', id, what, offsetMs + timestampUs / 1_000)
      },
      damaged: (reason) => this.#damaged(reason),
      failed: (error) => this.#emit('fault', error),
    })
    this.#players.set(id, player)
    this.#update()
    return player
  }

  #damaged(reason: string): void {
    if (this.#hasFault) return
    this.#hasFault = true
    this.#emit('fault', mediaError('RECORDING_DAMAGED', reason))
  }

  #emit<K extends keyof RecordingEvents>(event: K, ...args: RecordingEvents[K]): void {
    for (const listener of this.#listeners[event] as Set<(...args: RecordingEvents[K]) => void>)
      listener(...args)
  }
}
