import { circuitClaimDigest, type NodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { testModules } from '../conformance/modules.testkit.ts'
import { noEvents } from '../connection/channel.ts'
import { VirtualClock } from '../memory/virtual-clock.ts'
import { CircuitCarrier } from './circuit-carrier.ts'
import { frameCostBytes } from './limits.ts'
import { circuitFrame, claimFrame, readWaitingFrame } from './waiting-frames.ts'
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
    pace(from, 1_000 - frameCostBytes)
    expect(from.isRead).toBe(true)
    pace(from, 500 - frameCostBytes)
    pace(from, 500 - frameCostBytes)
    expect(from.isRead).toBe(false)
    clock.advanceBy(999)
    expect(from.isRead).toBe(false)
    clock.advanceBy(1)
    expect([from.isRead, other.isRead]).toEqual([true, true])
    expect(carrier.metrics['circuits.bytes']).toBe(2_000 - 3 * frameCostBytes)
  })

  it('is no number of empty frames', () => {
    const { carrier } = carrierOf({ maxCircuitBytesPerS: 1_000 })
    const [pace, from] = [carrier.pace(), channel()]
    for (let i = 0; i < 10; i++) pace(from, 0)
    expect(from.isRead).toBe(false)
  })

  it('is no more of all circuits together than it gives', () => {
    const { clock, carrier } = carrierOf({ maxCircuitBytesPerS: 1_000, maxBytesPerS: 1_500 })
    const [one, other] = [channel(), channel()]
    carrier.pace()(one, 1_000 - frameCostBytes)
    carrier.pace()(other, 1_000 - frameCostBytes)
    expect([one.isRead, other.isRead]).toEqual([true, false])
    clock.advanceBy(500)
    expect(other.isRead).toBe(true)
  })
})

/** Takes a circuit: it is there from then on. */
const takes = ({ events }: PausableChannel): void => events.onFrame(circuitFrame)

/** A node that waits at the carrier, does this with each circuit, and waits again. */
function waitAt(carrier: CircuitCarrier, name: string, clock: VirtualClock, onCircuit = takes): NodeId {
  const { identity, crypto } = testModules(name, clock)
  const wait = (): void => {
    const channel: PausableChannel = {
      ...{ kind: 'circuit', maxFrameBytes: 65_536, bufferedBytes: 0, binding: new Uint8Array(0) },
      ...{ events: noEvents, pause() {}, resume() {}, onGone() {} },
      close: () => {
        channel.events.onClose('')
        channel.onGone()
      },
      send: (frame) =>
        clock.endOfTurn(() => {
          const message = readWaitingFrame(frame)
          if (message?.type === 'challenge') {
            const { nodeId } = identity
            const digest = circuitClaimDigest({ challenge: message.challenge, address: '' }, crypto)
            channel.events.onFrame(claimFrame({ nodeId, signature: identity.sign(digest), address: '' }))
          } else if (message?.type === 'circuit') {
            wait()
            onCircuit(channel)
          }
        }),
    }
    carrier.wait({ channel, address: '192.0.2.1', isOwnAddress: () => true, onProven: () => {} })
  }
  wait()
  clock.advanceBy(0)
  return identity.nodeId
}

it('a network that has all circuits to a node gives way to others', async () => {
  const clock = new VirtualClock()
  const carrier = new CircuitCarrier({ maxCircuitsPerPeer: 3 }, testModules('carrier', clock))
  const to = waitAt(carrier, 'waiting', clock)
  const open = (from: string, node = to) => {
    const opening = carrier.open([node], from)
    clock.advanceBy(0)
    return opening
  }
  const counts = () => ['open', 'evicted'].map((name) => carrier.metrics[`circuits.${name}`])
  const first = await open('192.0.2.1')
  for (const from of ['192.0.2.2', '192.0.2.3']) await open(from)
  await open('198.51.100.1')
  expect(counts()).toEqual([3, 1])
  await expect(open('192.0.2.4')).rejects.toMatchObject({ code: 'TOO_MANY_CONNECTIONS' })
  expect(counts()).toEqual([3, 2])
  await open('192.0.2.4', waitAt(carrier, 'other', clock))
  expect(counts()).toEqual([4, 2])
  first.close()
  await open('192.0.2.4')
  expect(counts()).toEqual([4, 2])
  carrier.stop()
})

it('a circuit whose node takes it and is gone at the same moment is not counted for good', async () => {
  const clock = new VirtualClock()
  const carrier = new CircuitCarrier({}, testModules('carrier', clock))
  const to = waitAt(carrier, 'waiting', clock, (channel) => {
    takes(channel)
    channel.close()
  })
  const opening = carrier.open([to], '192.0.2.1')
  clock.advanceBy(0)
  await expect(opening).rejects.toMatchObject({ code: 'NO_CIRCUIT' })
  expect(carrier.metrics).toMatchObject({ 'circuits.open': 0, 'circuits.opened': 0, 'circuits.refused': 1 })
})

it('a carrier that stops ends the circuits that are being opened at once', async () => {
  const clock = new VirtualClock()
  const carrier = new CircuitCarrier({}, testModules('carrier', clock))
  const to = waitAt(carrier, 'silent', clock, () => {})
  const other = waitAt(carrier, 'other', clock)
  // The last is called by nobody yet: the one before it has the place where the node waits.
  const opening = [to, other, other].map((node) => carrier.open([node], '192.0.2.1'))
  carrier.stop()
  const results = await Promise.allSettled(opening)
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(carrier.metrics['circuits.open']).toBe(0)
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
