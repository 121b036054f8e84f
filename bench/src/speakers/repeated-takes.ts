import type { EncodedFrame, MediaSession, TrackPublisher } from '@runnel/media'
import type { Take, TakeTrack } from './take.ts'

/** How often frames that are due are sent. */
const everyMs = 2

/** Frames of all speakers. What was not sent had no room in a link: the session had paused its track. */
export interface SpokenCounters {
  readonly soundsDue: number
  readonly soundsSent: number
  readonly picturesDue: number
  readonly picturesSent: number
}

/** Takes that are published again and again, for as long as the process lasts. */
export class RepeatedTakes {
  readonly #tracks: RepeatedTrack[] = []
  #timer: NodeJS.Timeout | undefined

  /** Each begins at a moment of its own, so that their frames do not come at once. */
  add(session: MediaSession, take: Take): void {
    const startUs = session.nowUs() + Math.round(1_000_000 * Math.random())
    for (const track of take.tracks)
      this.#tracks.push(new RepeatedTrack(session, track, take.lengthUs, startUs))
    this.#timer ??= setInterval(() => this.#tracks.forEach((track) => track.send()), everyMs)
  }

  /** How late a frame was sent at most, since this was asked last. */
  takeLongestLateMs(): number {
    return Math.max(0, ...this.#tracks.map((track) => track.takeLongestLateUs())) / 1_000
  }

  get counters(): SpokenCounters {
    const counted = { soundsDue: 0, soundsSent: 0, picturesDue: 0, picturesSent: 0 }
    for (const { kind, due, sent } of this.#tracks) {
      counted[kind === 'audio' ? 'soundsDue' : 'picturesDue'] += due
      counted[kind === 'audio' ? 'soundsSent' : 'picturesSent'] += sent
    }
    return counted
  }
}

/** One track of a take. Like an encoder it goes on with a key frame where somebody asks for one: with the first. */
class RepeatedTrack {
  readonly kind: TakeTrack['track']['kind']
  readonly #session: MediaSession
  readonly #publisher: TrackPublisher
  readonly #frames: readonly (Omit<EncodedFrame, 'timestampUs'> & { readonly atUs: number })[]
  readonly #lengthUs: number
  #startUs: number
  #next = 0
  #longestLateUs = 0
  due = 0

  constructor(session: MediaSession, { track, frames }: TakeTrack, lengthUs: number, startUs: number) {
    this.kind = track.kind
    this.#session = session
    this.#lengthUs = lengthUs
    this.#startUs = startUs
    this.#frames = frames.map(({ base64, ...frame }) => ({
      ...frame,
      data: new Uint8Array(Buffer.from(base64, 'base64')),
    }))
    this.#publisher = session.publishTrack(track, { keyWanted: () => this.#beginAnew() })
  }

  get sent(): number {
    return this.#publisher.counters.frames
  }

  takeLongestLateUs(): number {
    const longestUs = this.#longestLateUs
    this.#longestLateUs = 0
    return longestUs
  }

  /** Sends what is due. */
  send(): void {
    const nowUs = this.#session.nowUs()
    for (;;) {
      const frame = this.#frames[this.#next]
      if (frame === undefined) {
        this.#startUs += this.#lengthUs
        this.#next = 0
        continue
      }
      const timestampUs = this.#startUs + frame.atUs
      if (timestampUs > nowUs) return
      this.#next++
      this.due++
      this.#longestLateUs = Math.max(this.#longestLateUs, nowUs - timestampUs)
      this.#publisher.send({ ...frame, timestampUs })
    }
  }

  #beginAnew(): void {
    if (this.kind === 'audio') return
    this.#startUs = this.#session.nowUs()
    this.#next = 0
  }
}
