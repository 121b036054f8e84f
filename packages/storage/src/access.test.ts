import {
  anyRequester,
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  seededRandom,
  signAccessToken,
  type NodeId,
} from '@runnel/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { clientError } from '@runnel/client'
import { Access } from './access.ts'
import { TestClock } from './storage.testkit.ts'
import { nodeId, partOf, streamId } from './store/batches.testkit.ts'

const crypto = await loadCrypto()
const identity = createIdentity(generatePrivateKey(seededRandom('access')), crypto)
const part = partOf(0)
const [self, stranger] = [nodeId(9), nodeId(8)]
const notPermitted = { code: 'NOT_PERMITTED' }

describe('Access', () => {
  let subscribers: NodeId[]
  let storageNodes: NodeId[]
  let isReadable: boolean
  let access: Access
  const clock = new TestClock()

  beforeEach(() => {
    subscribers = []
    storageNodes = [self]
    isReadable = true
    const client = {
      nodeId: self,
      getStream: async () => ({ id: streamId, partitions: 1, metadata: '', trackers: [], createdMs: 0 }),
      permissionsOf: async (_: string, user: string) => ({
        ...{ edit: false, delete: false, grant: false, publishUntilMs: 0 },
        subscribeUntilMs: subscribers.some((subscriber) => subscriber === user) ? Infinity : 0,
      }),
      getStorageNodes: async () => {
        if (!isReadable) throw clientError('CHAIN_UNREACHABLE')
        return storageNodes.map((id) => ({ nodeId: id, url: `ws://${id}` }))
      },
    }
    access = new Access({ client, crypto, clock })
  })

  const ask = (requesterId: NodeId, signer?: typeof identity) => {
    const claim = { requesterId, storageNodeId: self, expiresMs: clock.now() + 1000 }
    const token = signer && signAccessToken(claim, crypto, signer)
    return access.requireSubscriber(part, { requesterId, token })
  }

  it('lets subscribers pass, by their link or by a token of theirs, and nobody else', async () => {
    await expect(ask(stranger)).rejects.toMatchObject(notPermitted)
    await expect(ask(stranger, identity)).rejects.toMatchObject(notPermitted)
    subscribers = [identity.nodeId]
    await ask(identity.nodeId)
    await ask(stranger, identity)
    await expect(ask(stranger)).rejects.toMatchObject(notPermitted)
  })

  it('lets the storage nodes of the stream pass, as proved on their links', async () => {
    storageNodes = [self, identity.nodeId]
    await ask(identity.nodeId)
    await expect(ask(stranger)).rejects.toMatchObject(notPermitted)
    // Whoever holds a token has proved less.
    await expect(ask(stranger, identity)).rejects.toMatchObject(notPermitted)
    storageNodes = [self, anyRequester]
    await expect(ask(anyRequester)).rejects.toMatchObject(notPermitted)
    storageNodes = [self]
    await expect(ask(identity.nodeId)).rejects.toMatchObject(notPermitted)
  })

  it('lets nobody pass while it cannot be read who keeps the stream', async () => {
    isReadable = false
    await expect(ask(stranger)).rejects.toMatchObject({ code: 'STORE_FAILED' })
    subscribers = [stranger]
    await ask(stranger)
  })

  it('sees when someone who was let pass no longer may, and not in doubt', async () => {
    const asker = { requesterId: stranger, token: undefined }
    subscribers = [stranger]
    await access.requireStillSubscriber(part, asker)
    subscribers = []
    await expect(access.requireStillSubscriber(part, asker)).rejects.toMatchObject(notPermitted)
    storageNodes = [self, stranger]
    await access.requireStillSubscriber(part, asker)
    isReadable = false
    await access.requireStillSubscriber(part, asker)
  })
})
