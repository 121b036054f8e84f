import { afterEach, describe, expect, it, vi } from 'vitest'
import { armOf, whereOf, whereParameters, whole } from './session-arguments.ts'

afterEach(() => vi.unstubAllEnvs())

const here = { machines: undefined, worker: undefined, listen: undefined }
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
    expect(whereOf({ ...elsewhere, listen: undefined }, [])).toMatchObject({ listen: '127.0.0.1' })
  })

  it('is refused for browsers elsewhere, for no machine, for options of the other, and without a token', () => {
    vi.stubEnv('RUNNEL_BENCH_TOKEN', 'a token')
    const worker = ['192.0.2.1:7180']
    const places = [
      () => whereOf({ ...here, machines: 2 }, ['headless']),
      () => whereOf({ ...here, machines: 0 }, []),
      () => whereOf({ ...here, listen: '192.0.2.9' }, []),
      () => whereOf({ ...here, machines: 2, worker }, ['light-webrtc']),
      () => {
        vi.stubEnv('RUNNEL_BENCH_TOKEN', '')
        whereOf({ ...here, worker }, ['light-websocket'])
      },
    ]
    for (const place of places) expect(place).toThrow(expect.objectContaining(refused) as Error)
  })

  it('is in the record as it was given, of many workers as much as a record takes', () => {
    expect(whereParameters({ ...here, machines: 3 })).toEqual({ ...here, machines: 3 })
    const worker = Array.from({ length: 30 }, (_, i) => `192.0.2.${i}:7180`)
    const { worker: text } = whereParameters({ ...here, worker })
    expect(text).toMatch(/^192\.0\.2\.0:7180,192/)
    expect(text).toHaveLength(200)
  })
})

it('refuses what is no kind of user, and what is no whole number in its bounds', () => {
  expect(armOf('headless')).toBe('headless')
  expect(() => armOf('walking')).toThrow(expect.objectContaining(refused) as Error)
  expect(whole('hold', 3, 1, 5)).toBe(3)
  for (const value of [0, 6, 1.5, NaN])
    expect(() => whole('hold', value, 1, 5)).toThrow(expect.objectContaining(refused) as Error)
})
