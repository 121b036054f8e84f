import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../memory/virtual-clock.ts'
import { ToldDials } from './told-dials.ts'

/** Of an address that a name has led to. */
const refusalOf = (told: ToldDials, address: string): string | undefined =>
  told.refusal(new URL('ws://node.example:8080'), address)
const local = ['127.0.0.1', '192.168.1.1', '[::1]', 'localhost', 'fe80::1']

describe('ToldDials', () => {
  it('lets a node that has reached public addresses only dial no other', () => {
    const told = new ToldDials({}, new VirtualClock())
    told.reached('tracker.example')
    for (const host of local) expect(refusalOf(told, host)).toBe('not a public address')
    expect(told.refusal(new URL('ws://node.example:8080'))).toBeUndefined()
    expect(told.refusal(new URL('ws://8.8.8.8:443'))).toBeUndefined()
  })

  it('lets one that has reached a local one dial both', () => {
    const told = new ToldDials({}, new VirtualClock())
    told.reached('tracker.example')
    told.reached('127.0.0.1')
    told.reached('tracker.example')
    for (const host of [...local, 'node.example']) expect(refusalOf(told, host)).toBeUndefined()
  })

  it('does as it is configured', () => {
    expect(
      new ToldDials({ isInside: false }, new VirtualClock()).refusal(new URL('ws://10.0.0.1:8080')),
    ).toBeDefined()
    const told = new ToldDials({ isInside: true }, new VirtualClock())
    told.reached('tracker.example')
    expect(told.refusal(new URL('ws://10.0.0.1:8080'))).toBeUndefined()
  })

  it('refuses the ports of other protocols', () => {
    const told = new ToldDials({}, new VirtualClock())
    for (const port of [22, 25, 6667, 10_080])
      expect(told.refusal(new URL(`ws://node.example:${port}`))).toBeDefined()
  })

  it('leaves a URL alone where no node is, ever longer, and no other', () => {
    const clock = new VirtualClock()
    const told = new ToldDials({}, clock)
    const url = new URL('ws://192.0.2.1')
    let dials = 0
    for (let second = 0; second < 24 * 3600 && dials < 29; second += 10) {
      if (told.refusal(url) === undefined) {
        dials++
        told.failed(url)
      }
      clock.advanceBy(10_000)
    }
    expect(dials).toBe(29)
    expect(told.refusal(url)).toContain('29 times')
    for (const other of ['ws://192.0.2.1:81', 'wss://192.0.2.1:80', 'ws://node.example', 'ws://192.0.2.2'])
      expect(told.refusal(new URL(other), '192.0.2.1')).toBeUndefined()
    told.answered(url)
    expect(told.refusal(url)).toBeUndefined()
  })

  it('leaves an address alone where many URLs have led to no node, until one does', () => {
    const clock = new VirtualClock()
    const told = new ToldDials({}, clock)
    const at = ['192.0.2.1', '64:ff9b::192.0.2.1', '64:ff9b::c000:201', '::ffff:192.0.2.1']
    let dials = 0
    for (let n = 0; n < 1000; n++) {
      const url = new URL(`${n % 2 ? 'ws' : 'wss'}://x${n}.example:${7000 + n}`)
      if (told.refusal(url, at[n % 4]) !== undefined) continue
      dials++
      told.failed(url, at[n % 4])
    }
    expect(dials).toBe(30)
    expect(told.refusal(new URL('ws://192.0.2.1:8080'))).toContain('30 times')
    expect(told.refusal(new URL('ws://192.0.2.2:8080'))).toBeUndefined()
    clock.advanceBy(30_000)
    expect(told.refusal(new URL('ws://192.0.2.1:8080'))).toBeUndefined()
    told.answered(new URL('ws://192.0.2.1:8080'))
    expect(told.failuresAt('192.0.2.1')).toBe(0)
  })

  it('lets each be dialled once more when a tracker is reached, but not again and again', () => {
    const clock = new VirtualClock()
    const told = new ToldDials({}, clock)
    const url = new URL('ws://8.8.4.4')
    const failUntilRest = (): void => {
      for (; told.refusal(url) === undefined; clock.advanceBy(10)) told.failed(url)
    }
    const triesAfterTrackerReached = (): number => {
      const before = told.failuresAt('8.8.4.4')
      told.reached('tracker.example')
      failUntilRest()
      return told.failuresAt('8.8.4.4') - before
    }
    told.reached('tracker.example')
    failUntilRest()
    expect([triesAfterTrackerReached(), triesAfterTrackerReached()]).toEqual([1, 0])
    clock.advanceBy(3_600_000)
    failUntilRest()
    expect([triesAfterTrackerReached(), triesAfterTrackerReached()]).toEqual([1, 0])
  })

  it('remembers a bounded number of failures', () => {
    const told = new ToldDials({}, new VirtualClock())
    const victim = new URL('ws://192.0.2.1')
    for (let round = 0; round < 3; round++) told.failed(victim)
    const failElsewhere = (n: number): void => told.failed(new URL(`ws://x${n}.example`))
    for (let n = 1; n < 10_000; n++) failElsewhere(n)
    expect(told.refusal(victim)).toContain('3 times')
    failElsewhere(10_000)
    expect(told.refusal(victim)).toBeUndefined()
    expect(told.failuresAt('192.0.2.1')).toBe(0)
    expect(told.failuresAt('x1.example')).toBe(1)
  })
})
