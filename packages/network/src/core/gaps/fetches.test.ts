import { describe, expect, it } from 'vitest'
import { idOf, partId } from '../core.testkit.ts'
import { Fetches } from './fetches.ts'

const chain = { publisherId: idOf(7), messageChainId: 'c' }
const fetch = (peer: number, dueMs: number) => ({
  peerId: idOf(peer),
  streamPartId: partId,
  chain,
  claim: undefined,
  rangeCount: 1,
  sentMs: 0,
  dueMs,
})

describe('Fetches', () => {
  it('allows so many to one neighbour, until one ends', () => {
    const fetches = new Fetches({ maxFetchesInFlight: 2 })
    const [first] = [fetches.add(fetch(2, 100)), fetches.add(fetch(2, 100))]
    expect([fetches.canAsk(idOf(2), 0), fetches.canAsk(idOf(3), 0)]).toEqual([false, true])
    expect(fetches.take(first, idOf(3))).toBeUndefined()
    expect(fetches.take(first, idOf(2))).toMatchObject({ requestId: first })
    expect(fetches.canAsk(idOf(2), 0)).toBe(true)
  })

  it('does not count those whose answers were lost, though nobody waits for them any more', () => {
    const fetches = new Fetches({ maxFetchesInFlight: 2 })
    const ids = [fetches.add(fetch(2, 100)), fetches.add(fetch(2, 200))]
    expect(fetches.canAsk(idOf(2), 99)).toBe(false)
    expect(fetches.canAsk(idOf(2), 100)).toBe(true)
    expect(ids.map((id) => fetches.take(id) !== undefined)).toEqual([false, true])
  })

  it('forgets those to a neighbour whose link closed', () => {
    const fetches = new Fetches({ maxFetchesInFlight: 1 })
    const ids = [fetches.add(fetch(2, 100)), fetches.add(fetch(3, 100))]
    fetches.linkClosed(idOf(2))
    expect([fetches.canAsk(idOf(2), 0), fetches.canAsk(idOf(3), 0)]).toEqual([true, false])
    expect(ids.map((id) => fetches.take(id) !== undefined)).toEqual([false, true])
  })
})
