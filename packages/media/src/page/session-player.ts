/// <reference lib="dom" />
import { ActiveSpeaker } from '../core/active-speaker.ts'
import { tracksRead } from '../catalogue/ladder.ts'
import { MiddleReport } from '../core/middle-report.ts'
import { RenditionChoice } from '../core/rendition-choice.ts'
import { checkOptions } from '../options.ts'
import type { MediaSession } from '../session/media-session.ts'
import type { Member } from '../session/member.ts'
import { DecodableCodecs } from './decodable-codecs.ts'
import { MemberPlayer, type MemberReport } from './member-player.ts'
import { resumeInterrupted } from './resume-interrupted.ts'

/** How often sound is played, and key frames are asked for. */
const tickMs = 10
/** How often the player judges what came through. */
const reportMs = 1_000
/** Renditions that a reader chooses from. */
const renditions = 2

const eventKinds = { fault: 'function' } as const

/** How a session is heard and seen. */
export interface PlayerReport {
  /** 0 for the lowest rendition. */
  readonly rendition: number
  readonly members: ReadonlyMap<string, MemberReport>
}

/**
 * Plays the sound of all members of a session, and paints their pictures into canvases, until the session ends. Takes the highest rendition that
 * comes through, and no pictures in a codec that the browser does not decode.
 */
export class SessionPlayer {
  readonly #session: MediaSession
  readonly #output: AudioNode
  readonly #context: AudioContext
  readonly #players = new Map<string, MemberPlayer>()
  readonly #speaker = new ActiveSpeaker()
  readonly #codecs = new DecodableCodecs(() => this.#update())
  readonly #choice = new RenditionChoice(renditions, performance.now())
  readonly #stops: (() => void)[] = []
  readonly #faultListeners = new Set<(error: unknown) => void>()
  #painting = 0
  readonly #middle = new MiddleReport()

  /**
   * Create `context` once the user has touched the page, or it stays silent; after an interruption, as by a call, the player resumes it.
   * `output` receives all sound, such as a node that sets the volume; by default the context plays it.
   */
  constructor(session: MediaSession, context: AudioContext, output: AudioNode = context.destination) {
    this.#session = session
    this.#context = context
    this.#output = output
  }

  /** Calls `listener`, which must not throw, when a member's sound cannot be played (SOUND_REFUSED), until the returned function is called. Throws OPTIONS_INVALID. */
  on(event: 'fault', listener: (error: unknown) => void): () => void {
    checkOptions('on', { [event]: listener }, eventKinds)
    this.#faultListeners.add(listener)
    return () => void this.#faultListeners.delete(listener)
  }

  /** Begins to play. */
  start(): void {
    if (this.#stops.length > 0) return
    const { ended } = this.#session
    if (ended.aborted) return
    const timers = [setInterval(() => this.#tick(), tickMs), setInterval(() => this.#judge(), reportMs)]
    this.#stops.push(
      ...timers.map((timer) => () => clearInterval(timer)),
      () => cancelAnimationFrame(this.#painting),
      () => ended.removeEventListener('abort', this.#end),
      resumeInterrupted(this.#context),
      this.#session.on('members', () => this.#update()),
      this.#session.on('object', (member, object, place) => {
        const nowMs = performance.now()
        if (object.kind === 'audio' && !isOfScreen(member, object.track))
          this.#speaker.heard(member.id, object.level, nowMs)
        this.#players.get(member.id)?.push(object, place, nowMs)
      }),
    )
    ended.addEventListener('abort', this.#end)
    this.#paint()
    this.#update()
  }

  /** Who speaks, or spoke last. */
  get speaker(): string | undefined {
    return this.#speaker.current
  }

  /** The canvas with a member's camera (or file), or its screen; undefined if it shows none. */
  canvasOf(memberId: string, what: 'camera' | 'screen' = 'camera'): HTMLCanvasElement | undefined {
    return this.#players.get(memberId)?.canvasOf(what)
  }

  /** Sets the highest useful rendition: 0 for small tiles. */
  limitRendition(highest: number): void {
    this.#choice.limit(highest, performance.now())
    this.#update()
  }

  get report(): PlayerReport {
    const members = [...this.#players].map(([id, player]) => [id, player.report] as const)
    return { rendition: this.#choice.index, members: new Map(members) }
  }

  /** Idempotent. */
  close(): void {
    for (const stop of this.#stops.splice(0)) stop()
    for (const player of this.#players.values()) player.close()
    this.#players.clear()
  }

  readonly #end = (): void => this.close()

  #tick(): void {
    const nowMs = performance.now()
    for (const player of this.#players.values()) player.tick(nowMs)
  }

  #paint(): void {
    this.#painting = requestAnimationFrame(() => {
      for (const player of this.#players.values()) player.paint(performance.now())
      this.#paint()
    })
  }

  #update(): void {
    // Closed while a codec was asked for.
    if (this.#stops.length === 0) return
    const { members } = this.#session
    for (const [id, player] of this.#players) {
      if (members.some((member) => member.id === id && member.catalogue.session === player.session)) continue
      player.close()
      this.#players.delete(id)
      this.#speaker.left(id)
    }
    this.#codecs.use(members.flatMap(({ catalogue }) => catalogue.tracks))
    const rendition = this.#choice.index
    const read = members.flatMap((member) => {
      const tracks = this.#codecs.among(member.catalogue.tracks)
      this.#playerOf(member).update(tracks, rendition)
      return tracksRead(tracks, rendition)
    })
    // What cannot be read now is tried again with the next report.
    this.#session.read(new Set(read.map(({ partition }) => partition))).catch(() => {})
  }

  #playerOf({ id, catalogue }: Member): MemberPlayer {
    const known = this.#players.get(id)
    if (known !== undefined) return known
    const player = new MemberPlayer(catalogue.session, {
      ...{ context: this.#context, output: this.#output },
      wantKey: (track) => this.#session.requestKey(id, track),
      failed: (error) => this.#faultListeners.forEach((listener) => listener(error)),
    })
    this.#players.set(id, player)
    return player
  }

  /** Once a second: whether the rendition comes through. */
  #judge(): void {
    const totals = [...this.#players].map(([id, { report }]) => {
      const { decoded, lost, late, undecodable } = report.frames
      return [id, { decoded, failed: lost + late + undecodable }] as const
    })
    this.#choice.report(this.#middle.next(new Map(totals)), performance.now())
    this.#update()
  }
}

/** Whoever shares one does not speak when it sounds. */
const isOfScreen = ({ catalogue }: Member, track: number): boolean =>
  catalogue.tracks.some(({ id, source }) => id === track && source === 'screen')
