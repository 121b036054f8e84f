import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { awsTable } from './aws-table.ts'
import { citiesFile, readCities } from './cities.ts'
import { cityPositions } from './city-positions.ts'
import { deriveCities } from './derive-cities.ts'
import { fibreMs } from './great-circle.ts'
import { greedySpanner, stretchesOf } from './spanner.ts'
import { mean } from './statistics.ts'
import { createUnderlay, pathLoss } from './underlay.ts'

const { table, source } = awsTable()

function pairs(sites: readonly string[]): [string, string][] {
  return sites.flatMap((a) => sites.filter((b) => b !== a).map((b): [string, string] => [a, b]))
}

describe('the spanner', () => {
  it('leaves out pairs that have a way over others, and keeps the rest', () => {
    // 0 - 1 - 2 on a line, and 3 aside.
    const delaysMs = [
      [0, 1, 2, 5],
      [1, 0, 1, 5],
      [2, 1, 0, 9],
      [5, 5, 9, 0],
    ]
    const delayMs = (a: number, b: number) => delaysMs[a]?.[b] ?? NaN
    const links = greedySpanner(4, delayMs, 1.2)
    expect(links.map(({ a, b }) => [a, b])).toEqual([
      [0, 1],
      [1, 2],
      [0, 3],
    ])
    expect(Math.max(...stretchesOf(4, delayMs, links))).toBe(1.2)
  })
})

describe('the cities', () => {
  const cities = readCities()

  it('are what the table gives', () => {
    expect(JSON.parse(readFileSync(citiesFile, 'utf8'))).toEqual(deriveCities(table, cityPositions, source))
  })

  it('have the order of the table, and the tracker beside it', () => {
    expect(cities.cities.map(({ region }) => region)).toEqual([...table.regions, null])
    expect(cities.cities.at(-1)?.name).toBe('Helsinki')
  })

  it('have two links each, or more', () => {
    for (const { name } of cities.cities)
      expect(cities.links.filter(({ between }) => between.includes(name)).length).toBeGreaterThanOrEqual(2)
  })

  it('are as far from each other as the table says, within 5 % on average', () => {
    const underlay = createUnderlay('cities')
    const stretches = pairs(table.regions).map(([from, to]) => {
      const nameOf = (region: string) => cities.cities.find((city) => city.region === region)?.name ?? ''
      const direct = createUnderlay('aws')
      const tableMs = (direct.delayMs(from, to) + direct.delayMs(to, from)) / 2
      return underlay.delayMs(nameOf(from), nameOf(to)) / tableMs
    })
    expect(Math.abs(mean(stretches) - 1)).toBeLessThan(0.05)
    expect(mean(stretches)).toBeCloseTo(cities.stretch.mean, 2)
  })
})

describe('an underlay', () => {
  it('of the table has its delays, both ways and within a region', () => {
    const underlay = createUnderlay('aws')
    expect(underlay.sites).toEqual(table.regions)
    expect(underlay.delayMs('eu-central-1', 'eu-west-1')).toBe(12.59)
    expect(underlay.delayMs('eu-west-1', 'eu-central-1')).toBe(11.49)
    expect(underlay.delayMs('us-east-1', 'us-east-1')).toBe(0.46)
    expect(underlay.delayMs('eu-central-1', 'nowhere')).toBe(Infinity)
  })

  it('of the cities has what the table has within a region', () => {
    const underlay = createUnderlay('cities')
    expect(underlay.sites).toHaveLength(16)
    expect(underlay.delayMs('Ashburn', 'Ashburn')).toBeCloseTo(0.46)
    expect(underlay.delayMs('Ashburn', 'Tokyo')).toBe(underlay.delayMs('Tokyo', 'Ashburn'))
  })

  it.each(['cities', 'aws'])('of %s has the tracker in Helsinki, near Stockholm', (latency) => {
    const underlay = createUnderlay(latency)
    const [stockholm, sydney] =
      latency === 'cities' ? ['Stockholm', 'Sydney'] : ['eu-north-1', 'ap-southeast-2']
    expect(underlay.trackerSite).toBe('Helsinki')
    expect(underlay.delayMs('Helsinki', stockholm)).toBeGreaterThan(2)
    expect(underlay.delayMs('Helsinki', stockholm)).toBeLessThan(6)
    expect(underlay.delayMs(sydney, 'Helsinki')).toBeGreaterThan(130)
    expect(underlay.delayMs(sydney, 'Helsinki')).toBeLessThan(170)
  })

  it('of a file has the tracker in its first region', () => {
    const file = new URL('../../../sim/src/latency/aws-one-way-delays.json', import.meta.url)
    expect(createUnderlay(file.pathname).trackerSite).toBe('eu-central-1')
  })
})

it('a packet goes over the links of two hosts, and may be lost on each', () => {
  expect(pathLoss(0)).toBe(0)
  expect(pathLoss(0.05)).toBeCloseTo(0.0975)
  expect(pathLoss(1)).toBe(1)
})

it('light takes about 2 ms from Helsinki to Stockholm', () => {
  const { Helsinki, Stockholm } = cityPositions
  if (!Helsinki || !Stockholm) throw new Error('both are cities')
  expect(fibreMs(Helsinki, Stockholm)).toBeCloseTo(1.98, 1)
})
