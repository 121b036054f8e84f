import type { UrgentRate } from '@runnel/client'
import type { Clock } from '@runnel/protocol'
import type { Track } from '../catalogue/catalogue.ts'
import { UpperRenditions } from '../core/upper-renditions.ts'
import { mediaError } from '../errors.ts'
import { mediaLimits } from '../limits.ts'
import { controlPartition } from './control-partition.ts'
import { NetworkRate } from './network-rate.ts'
import { checkNewTrack, placeTrack, type NewTrack } from './new-track.ts'
import { RateShare } from './rate-share.ts'
import { TrackPublisher, type TrackEvents, type TrackModules } from './track-publisher.ts'

export interface OwnTracksOptions {
  /** How many the stream has. */
  readonly partitions: number
  /** Whether the application says what the tracks may take: see `OwnTracks.useRate`. Otherwise the network does. */
  readonly hasGivenRate: boolean
}

export interface OwnTracksModules extends Pick<TrackModules, 'publish' | 'changed'> {
  readonly clock: Clock
  /** As the client tells it of a partition; undefined when that cannot be followed. */
  urgentRate(partition: number): Promise<UrgentRate | undefined>
  /** Whether somebody reads it. */
  isRead(partition: number): boolean
}

/** What this member publishes in a session. Its tracks share one rate. */
export class OwnTracks {
  readonly #options: OwnTracksOptions
  readonly #modules: OwnTracksModules
  readonly #tracks = new Set<TrackPublisher>()
  readonly #share = new RateShare(this.#tracks)
  /** Undefined where the application gives a rate. */
  readonly #networkRate: NetworkRate | undefined
  /** What the application's rate was last. */
  #givenBitsPerS: number | undefined
  readonly #upper = new UpperRenditions()
  /** By partition, the number of the next group. */
  readonly #groups = new Map<number, number>()
  #lastId = 0

  constructor(options: OwnTracksOptions, modules: OwnTracksModules) {
    this.#options = options
    this.#modules = modules
    if (options.hasGivenRate) return
    const { clock, urgentRate } = modules
    this.#networkRate = new NetworkRate({ clock, tracks: this.#tracks, share: this.#share, urgentRate })
  }

  /** As they stand in the catalogue. */
  get described(): readonly Track[] {
    return [...this.#tracks].map(({ track }) => track)
  }

  /** Throws TRACK_INVALID. */
  publish(newTrack: NewTrack, events: TrackEvents): TrackPublisher {
    if (this.#tracks.size >= mediaLimits.maxTracks)
      throw mediaError('TRACK_INVALID', `a member has up to ${mediaLimits.maxTracks} tracks`)
    checkNewTrack(newTrack)
    const place = { id: this.#freeId(), partition: this.#partitionOf(newTrack) }
    const { track, plan, rendition } = placeTrack(newTrack, place)
    const { publish, changed, clock } = this.#modules
    const publisher = new TrackPublisher(
      track,
      { plan, rendition, events },
      {
        publish,
        changed,
        nextGroup: (partition) => this.#nextGroup(partition),
        isAlone: ({ partition }) => this.#isAlone(partition),
        monotonicMs: () => clock.monotonicMs(),
        closed: (closed) => this.#closed(closed),
      },
    )
    this.#tracks.add(publisher)
    this.#leaveOut()
    this.#networkRate?.added()
    this.#shareGiven()
    changed()
    return publisher
  }

  /** Somebody cannot go on without a key frame of a track. */
  keyWanted(id: number): void {
    for (const publisher of this.#tracks) if (publisher.track.id === id) publisher.keyWanted()
  }

  /** A partition has its first link, and links show what they carry only from the first frame on. */
  linked(): void {
    this.#networkRate?.added()
  }

  /** The application gives them so much together, in bits a second. */
  useRate(bitsPerS: number): void {
    this.#givenBitsPerS = bitsPerS
    this.#shareGiven()
  }

  /** Told several times a second whether this computer is busy: then it publishes the lowest rendition only. */
  useBusyness(isBusy: boolean): void {
    if (this.#upper.told(isBusy, this.#modules.clock.monotonicMs())) this.chooseUpper()
  }

  /**
   * Leaves out renditions that nobody reads, and takes up others; called when that may have changed. Of each thing that is shown the lowest
   * stays, so that newcomers see something at once.
   */
  chooseUpper(): void {
    if (this.#leaveOut()) this.#shareAnew()
  }

  /** Follows the rate of the network no longer. Idempotent. */
  close(): void {
    this.#networkRate?.close()
  }

  #closed(publisher: TrackPublisher): void {
    if (!this.#tracks.delete(publisher)) return
    this.#leaveOut()
    this.#shareAnew()
    this.#modules.changed()
  }

  /** Whether other tracks are left out now. */
  #leaveOut(): boolean {
    let isOther = false
    // One that hears of its rate may close others.
    for (const one of this.#tracks) {
      const isLeftOut = this.#isToLeaveOut(one)
      isOther ||= isLeftOut !== one.isLeftOut
      one.leaveOut(isLeftOut)
    }
    return isOther
  }

  #isToLeaveOut(one: TrackPublisher): boolean {
    const isUpper = [...this.#tracks].some((other) => isBelow(other, one))
    return isUpper && (this.#upper.areLeftOut || !this.#modules.isRead(one.track.partition))
  }

  #shareAnew(): void {
    this.#networkRate?.changed()
    this.#shareGiven()
  }

  /** Shares out anew what the application gave last, if it gives a rate. */
  #shareGiven(): void {
    if (this.#givenBitsPerS !== undefined) this.#share.share(this.#givenBitsPerS)
  }

  #nextGroup(partition: number): number {
    const group = this.#groups.get(partition) ?? 0
    this.#groups.set(partition, group + 1)
    return group
  }

  #isAlone(partition: number): boolean {
    const there = this.described.filter((track) => track.partition === partition)
    return partition !== controlPartition && there.length === 1
  }

  #freeId(): number {
    const taken = new Set(this.described.map(({ id }) => id))
    do this.#lastId = (this.#lastId + 1) % 256
    while (taken.has(this.#lastId))
    return this.#lastId
  }

  /** Sound is with what members say; a rendition after the other; a screen, which all look at, behind them. */
  #partitionOf({ kind, source, rendition = 0 }: NewTrack): number {
    const wanted = kind === 'audio' ? controlPartition : source === 'screen' ? 3 : 1 + rendition
    return Math.min(wanted, this.#options.partitions - 1)
  }
}

function isBelow(one: TrackPublisher, other: TrackPublisher): boolean {
  const [a, b] = [one.track, other.track]
  return (
    a.kind === 'video' && b.kind === 'video' && a.altGroup === b.altGroup && one.rendition < other.rendition
  )
}
