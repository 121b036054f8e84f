import { neededBitsPerS, planRate, type PlannedRendition, type RatePlan } from '../core/rate-plan.ts'
import type { TrackPublisher } from './track-publisher.ts'

/** Shares a rate out among the tracks of a session: see `planRate`. */
export class RateShare {
  readonly #tracks: ReadonlySet<TrackPublisher>
  #plan: RatePlan | undefined

  constructor(tracks: ReadonlySet<TrackPublisher>) {
    this.#tracks = tracks
  }

  /** Bits a second with which no track pauses, each of those with pictures taking its least. */
  get leastBitsPerS(): number {
    const [audio, video] = [this.#plansOf('audio'), this.#plansOf('video')]
    const least = {
      audioBitsPerS: audio.map(({ maxBitsPerS }) => maxBitsPerS),
      videoBitsPerS: video.map(() => 1),
    }
    const [last] = video.slice(-1)
    if (last !== undefined) least.videoBitsPerS[video.length - 1] = 0
    return neededBitsPerS(least, audio, video) ?? 0
  }

  /** Whether nothing is published: no sound, and no pictures with what they were told last. */
  get isSilent(): boolean {
    return this.#of('audio').length === 0 && this.#of('video').every(({ bitsPerS }) => bitsPerS === 0)
  }

  /** Tells the tracks their parts. Returns what it takes for one more to be published, in bits a second; undefined where none pauses. */
  share(bitsPerS: number): number | undefined {
    const video = this.#of('video')
    const plans = [this.#plansOf('audio'), this.#plansOf('video')] as const
    const before = this.#plan?.videoBitsPerS.length === video.length ? this.#plan : undefined
    this.#plan = planRate(bitsPerS, ...plans, before)
    for (const [i, track] of video.entries()) track.useRate(this.#plan.videoBitsPerS[i] ?? 0)
    return neededBitsPerS(this.#plan, ...plans)
  }

  #plansOf(kind: 'audio' | 'video'): PlannedRendition[] {
    return this.#of(kind).map(({ plan }) => plan)
  }

  /** The lowest first. */
  #of(kind: 'audio' | 'video'): TrackPublisher[] {
    return [...this.#tracks]
      .filter(({ track, plan, isLeftOut }) => track.kind === kind && plan.maxBitsPerS > 0 && !isLeftOut)
      .sort((a, b) => a.plan.maxBitsPerS - b.plan.maxBitsPerS)
  }
}
