import { describe, expect, it } from 'vitest'
import { testModules } from '../conformance/modules.testkit.ts'
import { VirtualClock } from '../memory/virtual-clock.ts'
import { CircuitCarrier } from './circuit-carrier.ts'
import type { PausableChannel } from './waiting-socket.ts'

/** Says whether it is read. */
function channel() {
  const channel = {
    isRead: true,
    pause: () => void (channel.isRead = false),
    resume: () => void (channel.isRead = true),
  }
  return channel as typeof channel & PausableChannel
}

describe('what a carrier reads of circuits', () => {
  const carrierOf = (limits: object) => {
    const clock = new VirtualClock()
    const carrier = new CircuitCarrier(limits, testModules('carrier', clock))
    return { clock, carrier }
  }

  it('is a second’s worth at once, and the rest when it is paid for', () => {
    const { clock, carrier } = carrierOf({ maxCircuitBytesPerS: 1_000 })
    const [pace, from, other] = [carrier.pace(), channel(), channel()]
    pace(from, 1_000)
    expect(from.isRead).toBe(true)
    pace(from, 500)
    pace(from, 500)
    expect(from.isRead).toBe(false)
    clock.advanceBy(999)
    expect(from.isRead).toBe(false)
    clock.advanceBy(1)
    expect([from.isRead, other.isRead]).toEqual([true, true])
    expect(carrier.metrics['circuits.bytes']).toBe(2_000)
  })

  it('is no more of all circuits together than it gives', () => {
    const { clock, carrier } = carrierOf({ maxCircuitBytesPerS: 1_000, maxBytesPerS: 1_500 })
    const [one, other] = [channel(), channel()]
    carrier.pace()(one, 1_000)
    carrier.pace()(other, 1_000)
    expect([one.isRead, other.isRead]).toEqual([true, false])
    clock.advanceBy(500)
    expect(other.isRead).toBe(true)
  })
})

it('a carrier that stops closes what wants to wait, before it proves its id too, and lets nobody wait later', () => {
  const carrier = new CircuitCarrier({}, testModules('carrier', new VirtualClock()))
  const closed: string[] = []
  const wait = (name: string) => {
    const channel = { send: () => {}, close: () => void closed.push(name) } as unknown as PausableChannel
    carrier.wait({ channel, address: '192.0.2.1', isOwnAddress: () => true, onProven: () => {} })
  }
  wait('early')
  carrier.stop()
  expect(closed).toEqual(['early'])
  wait('late')
  expect(closed).toEqual(['early', 'late'])
})
