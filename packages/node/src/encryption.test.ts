import type { RunnelClient } from '@runnel/client'
import { isRunnelError } from '@runnel/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { EncryptionNetwork } from './encryption-network.testkit.ts'

describe('an encrypted stream', { timeout: 60_000 }, () => {
  const network = new EncryptionNetwork()

  beforeAll(() => network.start(), 60_000)
  afterEach(() => network.closeClients())
  afterAll(() => network.stop())

  it('is read by a newcomer while everybody else is away', async () => {
    const newcomer = await network.clientOf(3)
    await newcomer.ensureCard()
    await newcomer.close()
    const owner = await network.clientOf(2)
    const streamId = await network.newStream(owner)
    await network.publishStored(owner, streamId, ['one', 'two'])
    await owner.grant(streamId, { user: network.addressOf(3), permissions: ['subscribe'] })
    await owner.close()
    expect(await network.history(await network.clientOf(3), streamId)).toEqual(['one', 'two'])
    expect(network.stored.some((text) => text.includes('one') || text.includes('two'))).toBe(false)
  })

  it('is read by its publisher after a restart, with the same epoch', async () => {
    const owner = await network.clientOf(2)
    const streamId = await network.newStream(owner)
    await network.publishStored(owner, streamId, ['before'])
    await owner.close()
    const again = await network.clientOf(2)
    await network.publishStored(again, streamId, ['after'])
    expect(await network.history(again, streamId)).toEqual(['before', 'after'])
    expect(await network.history(await network.clientOf(2), streamId)).toEqual(['before', 'after'])
  })

  it('has a new key before the next message when its owner has removed a reader', async () => {
    const owner = await network.clientOf(2)
    const streamId = await network.newStream(owner)
    const removed = await network.clientOf(3)
    await removed.ensureCard()
    await owner.grant(streamId, { user: removed.userId, permissions: ['subscribe'] })
    const epochs: string[] = []
    owner.network.on('batch', (_, { chain, messages }) => {
      if (chain.partition === 0) epochs.push(...messages.map(({ groupKeyId }) => groupKeyId))
    })
    await network.publishStored(owner, streamId, ['for both'])
    expect(await network.history(removed, streamId)).toEqual(['for both'])
    await owner.revoke(streamId, { user: removed.userId, permissions: ['subscribe'] })
    await network.publishStored(owner, streamId, ['for one'])
    expect(await network.history(owner, streamId)).toEqual(['for both', 'for one'])
    expect(new Set(epochs).size).toBe(2)
  })

  it('is read by a newcomer from before its publisher renewed its reading key, too', async () => {
    const newcomer = await network.clientOf(5)
    await newcomer.ensureCard()
    const owner = await network.clientOf(6)
    const streamId = await network.newStream(owner)
    await network.publishStored(owner, streamId, ['before'])
    await owner.renewReadingKey()
    await owner.close()
    const again = await network.clientOf(6)
    await network.publishStored(again, streamId, ['after'])
    await again.grant(streamId, { user: newcomer.userId, permissions: ['subscribe'] })
    await again.close()
    expect(await network.history(newcomer, streamId)).toEqual(['before', 'after'])
  })

  it('that keeps its history to itself gives a newcomer what comes later', async () => {
    const newcomer = await network.clientOf(4)
    await newcomer.ensureCard()
    const owner = await network.clientOf(2)
    const streamId = await network.newStream(owner, { history: 'none' })
    await network.publishStored(owner, streamId, ['before'])
    await owner.grant(streamId, { user: newcomer.userId, permissions: ['subscribe'] })
    await network.publishStored(owner, streamId, ['after'])
    const leftOut = nextUndecodable(newcomer)
    expect(await network.history(newcomer, streamId)).toEqual(['after'])
    expect(await leftOut).toBe('KEY_NOT_FOUND')
  })
})

/** The code of the error for which the next message is left out. */
async function nextUndecodable(client: RunnelClient): Promise<string | undefined> {
  for await (const status of client.status())
    if (status.type === 'undecodable') return isRunnelError(status.error) ? status.error.code : undefined
  return undefined
}
