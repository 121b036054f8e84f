const earthRadiusKm = 6_371
/** Light in glass takes two thirds of its speed in vacuum: kilometres a millisecond. */
const fibreKmPerMs = 200

export interface Position {
  /** In degrees, north and east. */
  readonly latitude: number
  readonly longitude: number
}

/** What light takes through a fibre along the great circle, one way (haversine formula). */
export function fibreMs(a: Position, b: Position): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180
  const halfSine = (degrees: number) => Math.sin(radians(degrees) / 2) ** 2
  const chord =
    halfSine(b.latitude - a.latitude) +
    Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * halfSine(b.longitude - a.longitude)
  return (2 * earthRadiusKm * Math.asin(Math.sqrt(chord))) / fibreKmPerMs
}
