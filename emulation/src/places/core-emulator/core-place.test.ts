import { describe, expect, it, onTestFinished } from 'vitest'
import { readCities } from '../../underlay/cities.ts'
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

it('a place in CORE does not start without CORE, and stops all the same', async () => {
  const place = new CorePlace({ python: pythonWithoutCore })
  const fleet = { nodes: 2, links: 'websocket', degree: 4, overlay: 'random' } as const
  await expect(place.start(fleet, AbortSignal.timeout(60_000))).rejects.toMatchObject(
    failure('CORE_UNAVAILABLE'),
  )
  await place.stop()
  await place.stop()
})
