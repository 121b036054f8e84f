import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../memory/virtual-clock.ts'
import { CandidateHold, holdMs, marginMs, maxHoldMs, type AwaitedKind } from './candidate-hold.ts'

const candidate = (address: string, kind: string) => `candidate:1 1 UDP 1 ${address} 9 typ ${kind}`
const [host, ownLink, outer, relay] = [
  candidate('10.0.0.7', 'host'),
  candidate('fe80::7', 'host'),
  candidate('192.0.2.7', 'srflx'),
  candidate('192.0.2.9', 'relay'),
]

function holding(awaits: AwaitedKind = 'srflx', signalDelayMs?: number) {
  const clock = new VirtualClock()
  const schedule = (ms: number, action: () => void) => clock.schedule(ms, action)
  const hold = new CandidateHold({ awaits, signalDelayMs }, { schedule })
  const taken: string[] = []
  const add = (name: string) => hold.add(name, () => taken.push(name))
  return { clock, hold, taken, add }
}

describe('CandidateHold', () => {
  it('holds all but addresses of private networks until the outer address has been known for a while', () => {
    const { clock, hold, taken, add } = holding()
    const reachable = candidate('192.0.2.10', 'host')
    for (const one of [outer, host, relay, reachable, ownLink]) add(one)
    expect(taken).toEqual([host, ownLink])
    hold.found(candidate('10.0.0.8', 'host'))
    hold.found(candidate('192.0.2.8', 'srflx'))
    clock.advanceBy(holdMs - 1)
    expect(taken).toEqual([host, ownLink])
    clock.advanceBy(1)
    expect(taken).toEqual([host, ownLink, outer, relay, reachable])
    add(outer)
    expect(taken.at(-1)).toBe(outer)
  })

  it('holds nothing when there is no NAT', () => {
    const { hold, taken, add } = holding()
    add(outer)
    hold.found(candidate('192.0.2.8', 'host'))
    hold.found(candidate('192.0.2.8', 'srflx'))
    expect(taken).toEqual([outer])
  })

  it('holds relays, also near ones, until the own relay has been known for a while where there are only relays', () => {
    const { clock, hold, taken, add } = holding('relay')
    const near = candidate('10.1.0.2', 'relay')
    for (const one of [near, relay]) add(one)
    hold.found(candidate('192.0.2.8', 'srflx'))
    clock.advanceBy(holdMs)
    expect(taken).toEqual([])
    hold.found(candidate('192.0.2.11', 'relay'))
    clock.advanceBy(holdMs)
    expect(taken).toEqual([near, relay])
  })

  it.each([
    ['a little longer than signals take, where that is known', 100, 100 + marginMs],
    ['shorter where they are quick', 2, 2 + marginMs],
    ['not for ever, whatever is said of them', 9_999, maxHoldMs],
  ])('holds %s', (_, signalDelayMs, waitMs) => {
    const { clock, hold, taken, add } = holding('relay', signalDelayMs)
    add(relay)
    hold.found(relay)
    clock.advanceBy(waitMs - 1)
    expect(taken).toEqual([])
    clock.advanceBy(1)
    expect(taken).toEqual([relay])
  })

  it('holds no longer when no outer address is found', () => {
    const { clock, hold, taken, add } = holding()
    hold.found(host)
    add(outer)
    clock.advanceBy(maxHoldMs)
    expect(taken).toEqual([outer])
  })

  it('lets one bad candidate not spoil the others', () => {
    const { hold, taken, add } = holding()
    hold.add(outer, () => {
      throw new Error('bad')
    })
    add(relay)
    hold.release()
    expect(taken).toEqual([relay])
  })

  it('forgets everything when it is closed', () => {
    const { clock, hold, taken, add } = holding()
    add(outer)
    hold.close()
    hold.found(candidate('192.0.2.8', 'srflx'))
    clock.advanceBy(maxHoldMs)
    expect(taken).toEqual([])
  })
})
