import { afterEach, describe, expect, it, vi } from 'vitest'
import { armOf, whereOf, whole } from './session-arguments.ts'

afterEach(() => vi.unstubAllEnvs())

const here = { machines: 1, worker: undefined, listen: '127.0.0.1' }
const refused = { code: 'INVALID_ARGUMENT' }

describe('where users are', () => {
  it('is here, in namespaces, or with workers elsewhere', () => {
    expect(whereOf(here, ['browser'])).toEqual({ machines: 1 })
    expect(whereOf({ ...here, machines: 2 }, ['light-webrtc'])).toEqual({ machines: 2 })
    vi.stubEnv('RUNNEL_BENCH_TOKEN', 'a token')
    const elsewhere = { ...here, worker: ['192.0.2.1:7180'], listen: '192.0.2.9' }
    expect(whereOf(elsewhere, ['light-websocket'])).toEqual({
      ...{ workers: ['192.0.2.1:7180'], token: 'a token', listen: '192.0.2.9' },
    })
  })

  it('is refused for browsers elsewhere, for no machine, and without a token', () => {
    vi.stubEnv('RUNNEL_BENCH_TOKEN', '')
    const places = [
      () => whereOf({ ...here, machines: 2 }, ['headless']),
      () => whereOf({ ...here, machines: 0 }, []),
      () => whereOf({ ...here, worker: ['192.0.2.1:7180'] }, ['light-websocket']),
    ]
    for (const place of places) expect(place).toThrow(expect.objectContaining(refused) as Error)
  })
})

it('refuses what is no kind of user, and what is no whole number in its bounds', () => {
  expect(armOf('headless')).toBe('headless')
  expect(() => armOf('walking')).toThrow(expect.objectContaining(refused) as Error)
  expect(whole('hold', 3, 1, 5)).toBe(3)
  for (const value of [0, 6, 1.5, NaN])
    expect(() => whole('hold', value, 1, 5)).toThrow(expect.objectContaining(refused) as Error)
})
