import type { Cancel } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { testModules } from '../conformance/modules.testkit.ts'
import type { PooledChannel } from '../connection/connection-pool.ts'
import { transportError } from '../errors.ts'
import { VirtualClock } from '../memory/virtual-clock.ts'
import { ToldDials } from '../ws/told-dials.ts'
import { CircuitTransport, type OpenSocket } from './circuit-transport.ts'
import { minSeekPauseMs } from './limits.ts'
import { circuitFrame, waitingFrame } from './waiting-frames.ts'

it('a node without room for a circuit closes it, and waits on at one socket until it stops', async () => {
  const clock = new VirtualClock()
  const open = new Set<PooledChannel>()
  const transport = new CircuitTransport(
    { waits: true, carriers: ['wss://192.0.2.1:443'], maxConnections: 0 },
    {
      ...testModules('waiting', clock),
      toldDials: new ToldDials({}, clock),
      openSocket: (_, onChannel) => {
        const channel = {
          events: { onFrame() {}, onDrain() {}, onClose() {} },
          send: () => {},
          close: () => open.delete(channel) && clock.endOfTurn(() => channel.events.onClose('closed')),
        } as unknown as PooledChannel
        clock.endOfTurn(() => {
          open.add(channel)
          onChannel(channel)
        })
        return () => {}
      },
    },
  )
  const hear = (frame: Uint8Array) => {
    for (const channel of [...open]) channel.events.onFrame(frame)
    clock.advanceBy(0)
  }
  await transport.start()
  clock.advanceBy(0)
  for (let i = 0; i < 3; i++) {
    hear(waitingFrame)
    hear(circuitFrame)
    hear(waitingFrame)
    clock.advanceBy(2 * minSeekPauseMs)
    expect(open.size).toBe(1)
    expect(transport.addresses).toHaveLength(1)
  }
  await transport.stop()
  expect(open.size).toBe(0)
})

const hourMs = 3_600_000
const named = (...urls: string[]) => urls.map((url) => ({ url, username: '', credential: '' }))

/** A node that waits, and seeks where nobody is. */
async function startSeeking(
  fails: (fail: () => void, clock: VirtualClock) => Cancel = (fail, clock) => clock.schedule(100, fail),
) {
  const clock = new VirtualClock()
  const toldDials = new ToldDials({}, clock)
  const dials: string[] = []
  const openSocket: OpenSocket = ({ url, told }, _, onFail) => {
    const fail = () => onFail(transportError('DIAL_FAILED', 'nobody is there'))
    try {
      told.begin()
    } catch {
      return clock.schedule(0, fail)
    }
    dials.push(new URL(url).hostname)
    return fails(fail, clock)
  }
  const modules = { ...testModules('waiting', clock), toldDials, openSocket }
  const transport = new CircuitTransport({ waits: true }, modules)
  await transport.start()
  return { clock, toldDials, dials, transport }
}

describe('carriers that trackers name', () => {
  const victim = named('wss://8.8.4.4:443')

  it('are left alone, ever longer, where there is none', async () => {
    const { clock, toldDials, dials, transport } = await startSeeking()
    transport.setIceServers(victim)
    clock.advanceBy(24 * hourMs)
    expect(dials.length).toBeGreaterThan(3)
    expect(dials.length).toBeLessThan(50)
    expect(toldDials.failuresAt('8.8.4.4')).toBe(dials.length)
  })

  it('are sought again once a node that was cut off reaches a tracker', async () => {
    const { clock, toldDials, dials, transport } = await startSeeking()
    transport.setIceServers(victim)
    clock.advanceBy(hourMs)
    toldDials.reached('8.8.8.8')
    const before = dials.length
    transport.setIceServers(victim)
    clock.advanceBy(2_000)
    expect(dials.length).toBe(before + 1)
  })

  it('are not dialled more often because they are named more often', async () => {
    const { clock, dials, transport } = await startSeeking(() => () => {})
    for (let ms = 0; ms < 4_000; ms += 10) {
      transport.setIceServers(victim)
      clock.advanceBy(10)
    }
    expect(dials).toHaveLength(1)
  })
})
