import { RunnelError } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { VirtualClock } from '../../../transport/src/memory/virtual-clock.ts'
import { mediaLimits } from '../limits.ts'
import { recordSession } from './session-recorder.ts'

it('a recorder ends, with its timer, once its client is closed', async () => {
  let isOpen = true
  const call = () =>
    isOpen
      ? Promise.resolve({ stop: () => Promise.resolve(), unsubscribe: () => Promise.resolve() })
      : Promise.reject(new RunnelError('CLIENT_CLOSED', 'the client is closed', 'create another one'))
  const client = {
    ...{ publish: call, subscribe: call, record: call },
    getStream: (id: string) => Promise.resolve({ id, partitions: 1, metadata: {} }),
    getStorageNodes: () => Promise.resolve([{ nodeId: '0xb' }]),
  }
  const clock = new VirtualClock()
  const faults: unknown[] = []
  const options = { onFault: (error: unknown) => faults.push(error) }
  await recordSession('0xa/room', '0xa/recordings', options, { client: client as never, clock })
  isOpen = false
  clock.advanceBy(mediaLimits.noteEveryMs)
  await expect.poll(() => faults.length).toBe(1)
  expect(clock.nextAtMs).toBeUndefined()
})
