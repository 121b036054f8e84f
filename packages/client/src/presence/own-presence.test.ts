import { VirtualClock } from '@runnel/transport'
import { beforeEach, describe, expect, it } from 'vitest'
import { presenceLimits } from './limits.ts'
import { OwnPresence } from './own-presence.ts'

let clock: VirtualClock
let own: OwnPresence
let said: string[]
beforeEach(() => {
  clock = new VirtualClock()
  said = []
  own = new OwnPresence(presenceLimits, {
    clock,
    say: (wanted) => said.push(`${clock.monotonicMs() / 1000} ${wanted?.data ?? 'gone'}`),
  })
})

describe('what a client says of its presence', () => {
  it('goes at once, and then every ten seconds', async () => {
    await own.want({ data: 'a' })
    clock.advanceBy(25_000)
    expect(said).toEqual(['0 a', '10 a', '20 a'])
  })

  it('is never more than once in ten seconds, whatever changes', async () => {
    await own.want({ data: 'a' })
    clock.advanceBy(1_000)
    const changed = own.want({ data: 'b' })
    const left = own.want(undefined)
    const back = own.want({ data: 'c' })
    clock.advanceBy(9_000)
    await Promise.all([changed, left, back])
    const gone = own.want(undefined)
    clock.advanceBy(60_000)
    await gone
    expect(said).toEqual(['0 a', '10 c', '20 gone'])
  })

  it('ends with a goodbye at once, and is nothing where nothing was said', async () => {
    own.close()
    await own.want(undefined)
    expect(said).toEqual([])
    await own.want({ data: 'a' })
    clock.advanceBy(1_000)
    own.close()
    own.close()
    clock.advanceBy(60_000)
    expect(said).toEqual(['0 a', '1 gone'])
    const again = own.want({ data: 'b' })
    clock.advanceBy(60_000)
    await again
    expect(said[2]).toBe('61 b')
  })

  it('is for one to say at a time', async () => {
    const [one, other] = [{}, {}]
    expect([own.claim(one), own.claim(one), own.claim(other)]).toEqual([true, true, false])
    await own.want(undefined)
    expect(own.claim(other)).toBe(true)
  })
})
