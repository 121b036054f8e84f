import { RunnelError } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { VirtualClock } from '../../../transport/src/memory/virtual-clock.ts'
import { mediaLimits } from '../limits.ts'
import { recordSession } from './session-recorder.ts'

type SubscribeOptions = { readonly onEnded: (error: Error) => void }

const denied = new RunnelError('NO_SUBSCRIBE_PERMISSION', 'revoked', 'ask for it')

/** A recorder of a client that works until it is closed; `during` is called with each of its calls. */
async function record(
  during: (call: 'record' | 'publish', onEnded: (error: Error) => void) => void = () => {},
) {
  const world = { isOpen: true, stopped: 0, onEnded: (_: Error) => {} }
  const call = <T>(answer: T): Promise<T> =>
    world.isOpen
      ? Promise.resolve(answer)
      : Promise.reject(new RunnelError('CLIENT_CLOSED', 'the client is closed', 'create another one'))
  const client = {
    publish: () => {
      during('publish', world.onEnded)
      return call(undefined)
    },
    subscribe: (_: string, { onEnded }: SubscribeOptions) => {
      world.onEnded = onEnded
      return call({ unsubscribe: () => Promise.resolve() })
    },
    record: () => {
      during('record', world.onEnded)
      return call({ stop: () => Promise.resolve(void world.stopped++) })
    },
    getStream: (id: string) => Promise.resolve({ id, partitions: 1, metadata: {} }),
    getStorageNodes: () => Promise.resolve([{ nodeId: '0xb' }]),
  }
  const clock = new VirtualClock()
  const faults: unknown[] = []
  const options = { onFault: (error: unknown) => faults.push(error) }
  await recordSession('0xa/room', '0xa/recordings', options, { client: client as never, clock })
  return { world, clock, faults }
}

it('a recorder ends, with its timer, once its client is closed', async () => {
  const { world, clock, faults } = await record()
  world.isOpen = false
  clock.advanceBy(mediaLimits.noteEveryMs)
  await expect.poll(() => faults.length).toBe(1)
  expect(clock.nextAtMs).toBeUndefined()
})

it('a recorder ends where its user may not read the session any more', async () => {
  const { world, clock, faults } = await record()
  world.onEnded(denied)
  expect(faults).toEqual([denied])
  await expect.poll(() => world.stopped).toBe(1)
  expect(clock.nextAtMs).toBeUndefined()
})

it.each(['record', 'publish'] as const)(
  'a recorder whose user may not read any more while it begins leaves nothing behind: %s',
  async (call) => {
    let isFirst = true
    const { world, clock } = await record((made, onEnded) => {
      if (made !== call || !isFirst) return
      isFirst = false
      onEnded(denied)
    })
    expect(world.stopped).toBe(1)
    expect(clock.nextAtMs).toBeUndefined()
  },
)
