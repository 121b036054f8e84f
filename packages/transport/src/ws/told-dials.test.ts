import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../memory/virtual-clock.ts'
import { ToldDials } from './told-dials.ts'

const local = ['127.0.0.1', '192.168.1.1', '[::1]', 'localhost', 'fe80::1']

describe('ToldDials', () => {
  it('lets a node that has reached public addresses only dial no other', () => {
    const told = new ToldDials({}, new VirtualClock())
    told.reached('tracker.example')
    for (const host of local) expect(told.refusal(host, 8080)).toBe('not a public address')
    expect(told.refusal('node.example', 8080)).toBeUndefined()
    expect(told.refusal('8.8.8.8', 443)).toBeUndefined()
  })

  it('lets one that has reached a local one dial both', () => {
    const told = new ToldDials({}, new VirtualClock())
    told.reached('tracker.example')
    told.reached('127.0.0.1')
    told.reached('tracker.example')
    for (const host of [...local, 'node.example']) expect(told.refusal(host, 8080)).toBeUndefined()
  })

  it('does as it is configured', () => {
    expect(new ToldDials({ isInside: false }, new VirtualClock()).refusal('10.0.0.1', 8080)).toBeDefined()
    const told = new ToldDials({ isInside: true }, new VirtualClock())
    told.reached('tracker.example')
    expect(told.refusal('10.0.0.1', 8080)).toBeUndefined()
  })

  it('refuses the ports of other protocols', () => {
    const told = new ToldDials({}, new VirtualClock())
    for (const port of [22, 25, 6667, 10_080]) expect(told.refusal('node.example', port)).toBeDefined()
  })

  it('leaves an address alone where no node is, ever longer, and no other', () => {
    const clock = new VirtualClock()
    const told = new ToldDials({}, clock)
    let dials = 0
    for (let second = 0; second < 24 * 3600; second += 10) {
      if (told.refusal('192.0.2.1', 80) === undefined) {
        dials++
        told.failed('192.0.2.1', 80)
      }
      clock.advanceBy(10_000)
    }
    expect(dials).toBeLessThan(40)
    expect(told.refusal('192.0.2.1', 81)).toBeUndefined()
    told.answered('192.0.2.1', 80)
    expect(told.refusal('192.0.2.1', 80)).toBeUndefined()
  })

  it('remembers a bounded number of failures', () => {
    const told = new ToldDials({}, new VirtualClock())
    for (let round = 0; round < 3; round++) told.failed('192.0.2.1', 80)
    for (let port = 1; port <= 1000; port++) told.failed('192.0.2.2', port)
    expect(told.refusal('192.0.2.1', 80)).toBeUndefined()
  })
})
