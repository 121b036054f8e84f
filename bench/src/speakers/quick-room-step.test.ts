import { expect, it } from 'vitest'
import { newRoomSecret, roomStep } from '../../../examples/room/room-key.ts'
import { quickRoomStep } from './quick-room-step.ts'

const chain = { streamId: '0xa/rooms', partition: 1, publisherId: '0xb', messageChainId: '!1' }
const draft = {
  ...{ timestamp: 1, sequenceNumber: 0, previous: undefined, contentType: 2, encryptionType: 0 },
  ...{ groupKeyId: '', content: Uint8Array.of(1, 2, 3) },
}

it('seals what a page in the room opens, and no other', async () => {
  const secret = newRoomSecret()
  const [quick, room] = [await quickRoomStep(secret), await roomStep(secret)]
  const [sealed] = (await quick.seal?.([draft] as never, { chain } as never)) ?? []
  const message = { ...chain, ...sealed } as never
  expect(room.isSealed(message)).toBe(true)
  await expect(room.open(message, {} as never)).resolves.toMatchObject({ content: draft.content })
  await expect(
    room.open({ ...(message as object), publisherId: '0xc' } as never, {} as never),
  ).rejects.toThrow()
})
