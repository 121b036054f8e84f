import { existsSync } from 'node:fs'
import { readLatencyTable, type LatencyTable } from '@runnel/sim/latency'
import { shortestDelaysMs } from '@runnel/sim/shortest-delays'
import { emulationError } from '../errors.ts'
import { awsTable } from './aws-table.ts'
import { readCities, type Cities } from './cities.ts'
import { graphOf } from './spanner.ts'

/** Where hosts can be, and how long packets take between them. */
export interface Underlay {
  /** Nodes are spread over them in turn: node i is in site i mod their number, as in the simulator. */
  readonly sites: readonly string[]
  readonly trackerSite: string
  /** One way between two hosts of these sites, which may be the same. Infinity between sites it does not know. */
  delayMs(from: string, to: string): number
}

/**
 * `cities`: over the links of `emulation/data/cities.json`. `aws`: table 5.1 itself, with the tracker in Helsinki all the same.
 * Else a file in the shape of that table, with the tracker in its first region. Throws INVALID_ARGUMENT, UNREADABLE_LATENCIES and INVALID_LATENCIES.
 */
export function createUnderlay(latency: string): Underlay {
  switch (latency) {
    case 'cities':
      return cityUnderlay(readCities())
    case 'aws':
      return withTrackerCity(tableUnderlay(awsTable().table), readCities())
    default:
      if (!existsSync(latency))
        throw emulationError(
          'INVALID_ARGUMENT',
          `--latency is aws, cities, or a file; there is no ${latency}`,
        )
      return tableUnderlay(readLatencyTable(latency))
  }
}

/** What is lost between two hosts, when the link of each loses that part of its packets each way. */
export function pathLoss(linkLoss: number): number {
  return 1 - (1 - linkLoss) ** 2
}

/** Each pair of cities by the shortest way over the links. */
export function cityUnderlay({ cities, links }: Cities): Underlay {
  const index = new Map(cities.map(({ name }, at) => [name, at]))
  const at = (name: string) => index.get(name) ?? -1
  const graph = graphOf(
    cities.length,
    links.map(({ between: [a, b], oneWayMs }) => ({ a: at(a), b: at(b), delayMs: oneWayMs })),
  )
  const pathsMs = cities.map((_, city) => shortestDelaysMs(graph, city))
  const hostLinkMs = (city: number) => cities[city]?.hostLinkMs ?? Infinity
  return {
    sites: cities.filter(({ region }) => region !== null).map(({ name }) => name),
    trackerSite: cities.find(({ region }) => region === null)?.name ?? '',
    delayMs: (from, to) =>
      hostLinkMs(at(from)) + (pathsMs[at(from)]?.[at(to)] ?? Infinity) + hostLinkMs(at(to)),
  }
}

function tableUnderlay({ regions, oneWayMs }: LatencyTable): Underlay {
  return {
    sites: regions,
    trackerSite: regions[0] ?? '',
    delayMs: (from, to) => oneWayMs[regions.indexOf(from)]?.[regions.indexOf(to)] ?? Infinity,
  }
}

/** The tracker in its city, from where the shortest way over one of the city's links leads to a region of the table. */
function withTrackerCity(underlay: Underlay, { cities, links }: Cities): Underlay {
  const tracker = cities.find(({ region }) => region === null)
  const ways = links.flatMap(({ between: [a, b], oneWayMs }) => {
    const neighbour = cities.find(({ name }) => name === (b === tracker?.name ? a : b))
    if ((a !== tracker?.name && b !== tracker?.name) || !neighbour?.region) return []
    // Instead of the host that the table has at this end, there are the link and the tracker's host.
    const extraMs = oneWayMs + tracker.hostLinkMs - neighbour.hostLinkMs
    return [{ region: neighbour.region, extraMs }]
  })
  const trackerSite = tracker?.name ?? ''
  const shortestMs = (delayMs: (region: string) => number) =>
    Math.min(...ways.map(({ region, extraMs }) => extraMs + delayMs(region)))
  return {
    ...underlay,
    trackerSite,
    delayMs(from, to) {
      if (from === trackerSite && to === trackerSite) return 2 * (tracker?.hostLinkMs ?? Infinity)
      if (from === trackerSite) return shortestMs((region) => underlay.delayMs(region, to))
      if (to === trackerSite) return shortestMs((region) => underlay.delayMs(from, region))
      return underlay.delayMs(from, to)
    },
  }
}
