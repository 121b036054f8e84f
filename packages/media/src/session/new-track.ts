import { mistakeInPublishing, mistakeInTrack, type Track } from '../catalogue/catalogue.ts'
import type { PlannedRendition } from '../core/rate-plan.ts'
import { mediaError } from '../errors.ts'

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

/** Throws TRACK_INVALID for what cannot be placed. */
export function checkNewTrack(newTrack: NewTrack): void {
  const mistake = mistakeInPublishing(newTrack)
  if (mistake !== undefined) throw mediaError('TRACK_INVALID', mistake)
}

/** A track at its place in a session, and how it shares the rate with others; `newTrack` has been checked. Throws TRACK_INVALID. */
export function placeTrack(
  newTrack: NewTrack,
  place: Pick<Track, 'id' | 'partition'>,
): { readonly track: Track; readonly plan: PlannedRendition; readonly rendition: number } {
  const { minBitsPerS, rendition = 0, ...described } = newTrack
  const track: Track = { ...described, ...place, state: 'live' }
  const refused = mistakeInTrack(track)
  if (refused !== undefined) throw mediaError('TRACK_INVALID', refused)
  return { track, plan: planOf(newTrack), rendition }
}

function planOf(track: NewTrack): PlannedRendition {
  const { bitrate, minBitsPerS } = track
  if (bitrate === undefined) throw mediaError('TRACK_INVALID', 'it has no bitrate')
  const framesPerS = track.kind === 'audio' ? 1_000 / track.frameMs : track.framerate
  return { minBitsPerS: minBitsPerS ?? bitrate, maxBitsPerS: bitrate, framesPerS }
}
