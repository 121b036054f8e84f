import type { NodeId } from '@runnel/protocol'
import { trackerError } from '../errors.ts'

/** A geographic location, for a map. */
export interface Place {
  /** Degrees, −90 to 90. */
  readonly latitude: number
  /** Degrees, −180 to 180. */
  readonly longitude: number
  /** For people, such as a town or a data centre. */
  readonly name: string
}

/** Where nodes and trackers are, by id, as configured by the tracker's operator. Nothing is located by its address. */
export type Places = Readonly<Record<NodeId, Place>>

/** Characters of a place's name. */
const maxPlaceNameChars = 64

/** Throws INVALID_TRACKER_OPTIONS. */
export function checkPlaces(places: Places): Places {
  for (const [id, place] of Object.entries(places)) {
    const { latitude, longitude, name } = place
    const isOnEarth = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180
    if (isOnEarth && typeof name === 'string' && name.length <= maxPlaceNameChars) continue
    throw trackerError(
      'INVALID_TRACKER_OPTIONS',
      `places: ${id} needs a latitude, a longitude and a name of at most ${maxPlaceNameChars} characters`,
    )
  }
  return places
}

/** The known places of these ids. */
export function placesOf(places: Places, ids: Iterable<NodeId>): Places {
  const known: Record<NodeId, Place> = {}
  for (const id of ids) {
    const place = Object.hasOwn(places, id) ? places[id] : undefined
    if (place !== undefined) known[id] = place
  }
  return known
}
