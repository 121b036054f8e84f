import { expect, it } from 'vitest'
import { testModules } from '../conformance/modules.testkit.ts'
import type { PooledChannel } from '../connection/connection-pool.ts'
import { VirtualClock } from '../memory/virtual-clock.ts'
import { ToldDials } from '../ws/told-dials.ts'
import { CircuitTransport } from './circuit-transport.ts'
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
