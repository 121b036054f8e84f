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

it('a recorder ends where its user may not read the session any more', async () => {
  const denied = new RunnelError('NO_SUBSCRIBE_PERMISSION', 'revoked', 'ask for it')
  let onEnded: (error: Error) => void = () => {}
  let stopped = 0
  const recording = { recorded: 0, failed: 0, stop: () => Promise.resolve(void stopped++) }
  const client = {
    publish: () => Promise.resolve(),
    subscribe: (_: string, options: { onEnded: typeof onEnded }) => {
      onEnded = options.onEnded
      return Promise.resolve({ unsubscribe: () => Promise.resolve() })
    },
    record: () => Promise.resolve(recording),
    getStream: (id: string) => Promise.resolve({ id, partitions: 1, metadata: {} }),
    getStorageNodes: () => Promise.resolve([{ nodeId: '0xb' }]),
  }
  const clock = new VirtualClock()
  const faults: unknown[] = []
  const options = { onFault: (error: unknown) => faults.push(error) }
  await recordSession('0xa/room', '0xa/recordings', options, { client: client as never, clock })
  onEnded(denied)
  expect(faults).toEqual([denied])
  await expect.poll(() => stopped).toBe(1)
  expect(clock.nextAtMs).toBeUndefined()
})
