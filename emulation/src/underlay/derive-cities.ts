import type { LatencyTable } from '@runnel/sim/latency'
import type { Cities, City } from './cities.ts'
import { fibreMs, type Position } from './great-circle.ts'
import { greedySpanner, stretchesOf, type Link } from './spanner.ts'
import { mean, quantile } from './statistics.ts'

/** Where the cities are: the regions of the table, and the tracker's city. */
export type CityPositions = Readonly<Record<string, Position & { readonly region: string | null }>>

/** Small enough for delays like the table's, large enough to leave most pairs without a link of their own. */
const maxStretch = 1.1
/** Links of the city that the table does not have. */
const linksOfStranger = 2

/**
 * Links between cities, so that going over them takes about what the table says. The same table and positions always give
 * the same.
 */
export function deriveCities(table: LatencyTable, positions: CityPositions, source: string): Cities {
  const named = Object.entries(positions).map(([name, position]) => ({ name, ...position }))
  const inTable = table.regions.map((region) => found(named, (city) => city.region === region))
  const stranger = found(named, ({ region }) => region === null)
  const within = (index: number) => (table.oneWayMs[index]?.[index] ?? 0) / 2
  const bothWaysMs = (a: number, b: number) =>
    ((table.oneWayMs[a]?.[b] ?? 0) + (table.oneWayMs[b]?.[a] ?? 0)) / 2
  // The table has what hosts measured: their own links come off both ends.
  const routersMs = (a: number, b: number) => bothWaysMs(a, b) - within(a) - within(b)
  const count = inTable.length
  const links = greedySpanner(count, routersMs, maxStretch)
  const stretches = stretchesOf(count, routersMs, links)
  const detour = medianDetour(inTable, routersMs)
  const strangersLinks = nearest(stranger, inTable, detour)
  const nameOf = (index: number) => inTable[index]?.name ?? ''
  return {
    source,
    method: [
      'hostLinkMs: half of what the table has for two hosts of one region; for the last city the median of these.',
      'A link has the mean of both directions of the table, less the links of the two hosts.',
      `Links: a greedy ${maxStretch}-spanner of the table, so that the shortest way over links takes at most ${maxStretch} times the delay of the table.`,
      `The last city is not in the table. It is linked to its ${linksOfStranger} nearest; the delay is that of light in fibre (200 km/ms) along the great circle, times ${round(detour)}: the median of the same quotient over all pairs of the table.`,
    ],
    stretch: { mean: round(mean(stretches)), max: round(Math.max(...stretches)) },
    cities: [
      ...inTable.map((city, index) => ({ ...city, hostLinkMs: round(within(index)) })),
      {
        ...stranger,
        hostLinkMs: round(
          quantile(
            table.regions.map((_, index) => within(index)),
            0.5,
          ),
        ),
      },
    ],
    links: [
      ...links.map(({ a, b, delayMs }) => linkOf(nameOf(a), nameOf(b), delayMs)),
      ...strangersLinks.map(({ name, delayMs }) => linkOf(name, stranger.name, delayMs)),
    ],
  }
}

type Named = Omit<City, 'hostLinkMs'>

function found(cities: readonly Named[], matches: (city: Named) => boolean): Named {
  const city = cities.find(matches)
  if (!city) throw new RangeError('a region of the table has no position')
  return city
}

/** How many times what light takes along the great circle. */
function medianDetour(cities: readonly Named[], delayMs: (a: number, b: number) => number): number {
  const quotients = cities.flatMap((a, from) =>
    cities.slice(from + 1).map((b, after) => delayMs(from, from + 1 + after) / fibreMs(a, b)),
  )
  return quantile(quotients, 0.5)
}

function nearest(stranger: Named, cities: readonly Named[], detour: number) {
  return cities
    .map((city) => ({ name: city.name, delayMs: detour * fibreMs(stranger, city) }))
    .sort((a, b) => a.delayMs - b.delayMs)
    .slice(0, linksOfStranger)
}

function linkOf(a: string, b: string, delayMs: Link['delayMs']): Cities['links'][number] {
  return { between: [a, b], oneWayMs: round(delayMs) }
}

/** To a microsecond. */
function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
