import { geoNaturalEarth1, geoPath } from 'd3-geo'
import { feature } from 'topojson-client'

/** Size of the map in its own units. */
export const mapSize = { width: 1_000, height: 520 } as const

const projection = geoNaturalEarth1().fitSize([mapSize.width, mapSize.height], { type: 'Sphere' })
const path = geoPath(projection).digits(1)

/** The outlines of the land (Natural Earth, public domain), loaded when a map is first shown. */
export async function loadLand(): Promise<string> {
  const { default: world } = await import('world-atlas/land-110m.json', { with: { type: 'json' } })
  const topology = world as unknown as Parameters<typeof feature>[0]
  const { land } = topology.objects
  return land === undefined ? '' : (path(feature(topology, land)) ?? '')
}

export interface Point {
  readonly latitude: number
  readonly longitude: number
}

export function pointOnMap({ latitude, longitude }: Point): readonly [number, number] {
  return projection([longitude, latitude]) ?? [0, 0]
}

/** The shortest way on the globe between two places. */
export function wayOnMap(from: Point, to: Point): string {
  const coordinates = [from, to].map(({ latitude, longitude }) => [longitude, latitude])
  return path({ type: 'LineString', coordinates }) ?? ''
}
