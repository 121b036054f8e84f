import { RunnelError } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { VirtualClock } from '../../../transport/src/memory/virtual-clock.ts'
import { mediaLimits } from '../limits.ts'
import { openSession } from './open-session.ts'

it('ends, with all its timers, once its client is closed', async () => {
  let isOpen = true
  const call = () =>
    isOpen
      ? Promise.resolve({ neighbours: 0, send: () => {}, unsubscribe: () => Promise.resolve() })
      : Promise.reject(new RunnelError('CLIENT_CLOSED', 'the client is closed', 'create another one'))
  const client = {
    ...{ publish: call, prepare: call, subscribe: call, urgentRate: call },
    getStream: () => Promise.resolve({ id: '0xa/room', partitions: 4 }),
  }
  const clock = new VirtualClock()
  const session = await openSession('0xa/room', { name: 'Ada' }, { client: client as never, clock })
  const faults: unknown[] = []
  session.on('fault', (error) => faults.push(error))
  isOpen = false
  clock.advanceBy(mediaLimits.catalogueEveryMs)
  await expect.poll(() => session.isClosed).toBe(true)
  expect(clock.nextAtMs).toBeUndefined()
  expect(faults).not.toEqual([])
})
