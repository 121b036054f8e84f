import type { Cancel, RunnelError } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { testModules } from '../conformance/modules.testkit.ts'
import { noEvents } from '../connection/channel.ts'
import type { PooledChannel } from '../connection/connection-pool.ts'
import { transportError } from '../errors.ts'
import { VirtualClock } from '../memory/virtual-clock.ts'
import { ToldDials } from '../ws/told-dials.ts'
import { CircuitTransport, type CircuitOptions, type OpenSocket } from './circuit-transport.ts'
import { maxCarrierRestMs, maxPlacesPerS, maxSeekPauseMs, minSeekPauseMs } from './limits.ts'
import { challengeFrame, circuitFrame, stillHereFrame, waitingFrame } from './waiting-frames.ts'

/** How long a WebSocket takes to open, in milliseconds. */
const openingMs = 20

/** WebSockets to a carrier; what this node is told there is up to the test. */
class Sockets {
  /** Those that are open, oldest first. */
  readonly open = new Set<{ -readonly [Key in keyof PooledChannel]: PooledChannel[Key] }>()
  readonly sent: Uint8Array[] = []
  opened = 0
  onOpen: (channel: PooledChannel) => void = () => {}
  readonly #clock: VirtualClock

  constructor(clock: VirtualClock) {
    this.#clock = clock
  }

  readonly openSocket: OpenSocket = ({ told }, onChannel, onFail) => {
    try {
      told.begin()
    } catch (error) {
      return this.#clock.schedule(0, () => onFail(error as RunnelError))
    }
    return this.#clock.schedule(openingMs, () => {
      const channel = this.#channel()
      this.open.add(channel)
      this.opened++
      onChannel(channel)
      this.onOpen(channel)
    })
  }

  /** On all that are open. */
  hear(...frames: readonly Uint8Array[]): void {
    for (const frame of frames) {
      for (const channel of [...this.open]) channel.events.onFrame(frame)
      this.#clock.advanceBy(0)
    }
  }

  #channel(): PooledChannel {
    const channel = {
      ...{ kind: 'circuit', maxFrameBytes: 65_536, bufferedBytes: 0, binding: new Uint8Array(0) },
      ...{ events: noEvents, onGone() {} },
      send: (frame: Uint8Array) => void this.sent.push(frame),
      close: () => {
        if (!this.open.delete(channel)) return
        this.#clock.endOfTurn(() => {
          channel.events.onClose('closed')
          channel.onGone()
        })
      },
    }
    return channel
  }
}

const url = 'wss://192.0.2.1:443'
const challenge = challengeFrame(new Uint8Array(32))

async function startWaiting(options: Omit<CircuitOptions, 'waits'> = {}) {
  const clock = new VirtualClock()
  const sockets = new Sockets(clock)
  const { openSocket } = sockets
  const modules = { ...testModules('waiting', clock), toldDials: new ToldDials({}, clock), openSocket }
  const transport = new CircuitTransport({ carriers: [url], ...options, waits: true }, modules)
  await transport.start()
  clock.advanceBy(openingMs)
  return { clock, sockets, transport }
}

it('a node without room for a circuit closes it, and waits on at one socket until it stops', async () => {
  const { clock, sockets, transport } = await startWaiting({ maxConnections: 0 })
  for (let i = 0; i < 3; i++) {
    sockets.hear(challenge, waitingFrame, circuitFrame)
    clock.advanceBy(2 * minSeekPauseMs)
    expect(sockets.open.size).toBe(1)
    expect(transport.addresses).toHaveLength(1)
  }
  await transport.stop()
  expect(sockets.open.size).toBe(0)
})

describe('a carrier that calls again and again', () => {
  async function startCalled(options?: Omit<CircuitOptions, 'waits'>) {
    const started = await startWaiting(options)
    const call = (channel: PooledChannel): void => {
      for (const frame of [challenge, waitingFrame, circuitFrame]) channel.events.onFrame(frame)
    }
    started.sockets.onOpen = call
    started.sockets.open.forEach(call)
    return started
  }

  it('has so many sockets opened a second, of which few are open at once', async () => {
    const { clock, sockets, transport } = await startCalled()
    let most = 0
    for (let ms = 0; ms < 10_000; ms += 10) {
      clock.advanceBy(10)
      most = Math.max(most, sockets.open.size)
    }
    expect(sockets.opened).toBeLessThan(12 * maxPlacesPerS)
    expect(most).toBeLessThan(64)
    expect(most).toBeGreaterThan(8)
    await transport.stop()
    clock.advanceBy(0)
    expect(sockets.open.size).toBe(0)
  })

  it('has no more open than the node has room for, and the one on which it waits', async () => {
    const { clock, sockets, transport } = await startCalled({ maxConnections: 3 })
    for (let ms = 0; ms < 10_000; ms += 10) {
      clock.advanceBy(10)
      expect(sockets.open.size).toBeLessThan(5)
    }
    await transport.stop()
  })
})

it.each([
  ['calls before the node waits', [challenge, circuitFrame]],
  ['has nothing claimed', [waitingFrame]],
  ['wants a second claim', [challenge, challenge]],
])('a carrier that %s is left', async (_, frames) => {
  const { sockets, transport } = await startWaiting()
  sockets.hear(...frames)
  expect(sockets.open.size).toBe(0)
  expect(sockets.sent.length).toBeLessThan(2)
  await transport.stop()
})

it('a carrier that does not read gets no more answers', async () => {
  const { sockets, transport } = await startWaiting()
  const answers = () => sockets.sent.filter(({ length }) => length === stillHereFrame.length).length
  sockets.hear(challenge, waitingFrame, stillHereFrame)
  for (const channel of sockets.open) channel.bufferedBytes = 1
  sockets.hear(stillHereFrame, stillHereFrame)
  expect(answers()).toBe(1)
  for (const channel of sockets.open) channel.bufferedBytes = 0
  sockets.hear(stillHereFrame)
  expect([answers(), sockets.open.size]).toEqual([2, 1])
  await transport.stop()
})

it('what nodes do with circuits is no failure of the carrier where this node waits too', async () => {
  const { clock, sockets, transport } = await startWaiting()
  sockets.hear(challenge, waitingFrame)
  const failures: string[] = []
  for (let i = 0; i < 5; i++) {
    sockets.onOpen = (channel) => channel.close(true)
    const peerId = testModules(`hostile ${i}`, clock).identity.nodeId
    transport.dial({ peerId, url, isTold: true, onOpen() {}, onFail: ({ code }) => void failures.push(code) })
    clock.advanceBy(100)
  }
  expect(failures).toEqual(Array.from({ length: 5 }, () => 'CONNECTION_LOST'))
  sockets.onOpen = () => {}
  sockets.hear(circuitFrame)
  clock.advanceBy(100)
  expect(sockets.open.size).toBe(2)
  expect(transport.addresses).toEqual([url])
  await transport.stop()
})

const hourMs = 3_600_000
const named = (...urls: string[]) => urls.map((url) => ({ url, username: '', credential: '' }))

/** A node that waits, and seeks where nobody is. */
async function startSeeking(
  fails: (fail: () => void, clock: VirtualClock) => Cancel = (fail, clock) => clock.schedule(100, fail),
  carriers: readonly string[] = [],
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
  const transport = new CircuitTransport({ waits: true, carriers }, modules)
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
    expect(dials.length).toBeLessThan(10 + (24 * hourMs) / maxCarrierRestMs)
    expect(toldDials.failuresAt('8.8.4.4')).toBe(dials.length)
  })

  it('are sought again within minutes where nobody else carries, however long they were gone', async () => {
    const { clock, dials, transport } = await startSeeking()
    transport.setIceServers(victim)
    clock.advanceBy(24 * hourMs)
    for (let i = 0; i < 10; i++) {
      const before = dials.length
      clock.advanceBy(maxCarrierRestMs + maxSeekPauseMs + 1_000)
      expect(dials.length).toBeGreaterThan(before)
    }
  })

  it('are not left alone where the node is set up with them', async () => {
    const { clock, dials } = await startSeeking(undefined, ['wss://8.8.4.4:443'])
    clock.advanceBy(hourMs)
    expect(dials.length).toBeGreaterThan(50)
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

  it('are sought also when another tracker names none, or others', async () => {
    const { clock, dials, transport } = await startSeeking()
    transport.setIceServers(named('wss://8.8.4.1:443', 'wss://8.8.4.2:443'))
    transport.setIceServers(named('stun:8.8.4.9:3478'))
    clock.advanceBy(10_000)
    expect(new Set(dials)).toEqual(new Set(['8.8.4.1', '8.8.4.2']))
    transport.setIceServers(named(...[3, 4, 5, 6, 7, 8, 9].map((n) => `wss://8.8.4.${n}:443`)))
    dials.splice(0)
    clock.advanceBy(hourMs)
    expect(new Set(dials)).toEqual(new Set([1, 3, 4, 5, 6, 7, 8, 9].map((n) => `8.8.4.${n}`)))
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
