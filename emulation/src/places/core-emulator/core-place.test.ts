import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readCities } from '../../underlay/cities.ts'
import { cityUnderlay } from '../../underlay/underlay.ts'
import { CorePlace } from './core-place.ts'
import { CoreSession, type CorePlan } from './core-session.ts'

/** The Python of the system, for which nobody installs CORE: it has one of its own. */
const pythonWithoutCore = 'python3'
const { cities, links } = readCities()

function sessionForTest(python = pythonWithoutCore): CoreSession {
  const session = new CoreSession(python)
  onTestFinished(() => session.stop())
  return session
}

function hostsIn(city: string, count: number): CorePlan['hosts'] {
  return Array.from({ length: count }, (_, index) => ({ name: `node-${index}`, city }))
}

const failure = (message: string) => ({
  code: 'CORE_FAILED',
  message: expect.stringContaining(message) as string,
})

describe('a session of CORE', () => {
  it('says that CORE is not there, and for which Python', async () => {
    const session = sessionForTest()
    await expect(session.build({ cities, links, hosts: hostsIn('Tokyo', 2) })).rejects.toMatchObject(
      failure('CORE_UNAVAILABLE'),
    )
    await expect(session.build({ cities, links, hosts: [] })).rejects.toMatchObject(failure('python'))
  })

  it.each([
    ['a city that is not there', { cities, links, hosts: hostsIn('Atlantis', 1) }],
    ['more hosts than a city has addresses', { cities, links, hosts: hostsIn('Tokyo', 254) }],
    ['a link to nowhere', { cities: cities.slice(1), links, hosts: [] }],
  ])('refuses a plan with %s', async (_, plan) => {
    await expect(sessionForTest().build(plan)).rejects.toMatchObject(failure('INVALID_PLAN'))
  })

  it('refuses to change what is not built', async () => {
    const session = sessionForTest()
    await expect(session.setLoss(0.05)).rejects.toMatchObject(failure('INVALID_REQUEST'))
    await expect(session.facts()).rejects.toMatchObject(failure('INVALID_REQUEST'))
  })

  it('tells when there is no such Python', async () => {
    const session = sessionForTest('no-such-python')
    await expect(session.facts()).rejects.toMatchObject(failure('no-such-python'))
    expect(session.failed.aborted).toBe(true)
  })
})

/** What the script expects OSPF to find: from each city to the networks of all others. */
function costsOfOspf(): Record<string, number>[] {
  const program = `
import json, sys
from session import parse_plan, shortest_costs
plan = parse_plan(json.load(sys.stdin))
print(json.dumps([shortest_costs(plan, city) for city in range(len(plan.cities))]))`
  const printed = execFileSync(pythonWithoutCore, ['-B', '-c', program], {
    cwd: fileURLToPath(new URL('../../../core/', import.meta.url)),
    input: JSON.stringify({ cities, links, hosts: [] }),
    encoding: 'utf8',
  })
  return JSON.parse(printed) as Record<string, number>[]
}

it('OSPF is to find the ways that the delays are asked for', () => {
  const underlay = cityUnderlay(readCities())
  // 10 microseconds cost one; each link on a way is rounded, and the last leads to the switch.
  const maxOffMs = 0.01 + (0.01 / 2) * cities.length
  const costs = costsOfOspf()
  expect(costs).toHaveLength(cities.length)
  cities.forEach((from, a) => {
    expect(Object.keys(costs[a] ?? {})).toHaveLength(cities.length - 1)
    cities.forEach((to, b) => {
      if (a === b) return
      const cost = costs[a]?.[`10.${b + 1}.0.0/24`] ?? NaN
      const askedMs = underlay.delayMs(from.name, to.name) - from.hostLinkMs - to.hostLinkMs
      expect(Math.abs(cost / 100 - askedMs)).toBeLessThan(maxOffMs)
    })
  })
})

it('a place in CORE does not start without CORE, and stops all the same', async () => {
  const place = new CorePlace({ python: pythonWithoutCore })
  const fleet = { nodes: 2, links: 'websocket', degree: 4, overlay: 'random' } as const
  await expect(place.start(fleet, AbortSignal.timeout(60_000))).rejects.toMatchObject(
    failure('CORE_UNAVAILABLE'),
  )
  await place.stop()
  await place.stop()
})
