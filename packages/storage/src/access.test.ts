import {
  anyRequester,
  createIdentity,
  generatePrivateKey,
  isRunnelError,
  keyPartition,
  loadCrypto,
  seededRandom,
  signAccessToken,
  toStreamId,
  type ActingFor,
  type DelegationClaim,
  type NodeId,
} from '@runnel/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { clientError } from '@runnel/client'
import { Access } from './access.ts'
import { delegationFrom, identityOf } from './delegations.testkit.ts'
import { TestClock } from './storage.testkit.ts'
import { nodeId, partOf, streamId } from './store/batches.testkit.ts'

const crypto = await loadCrypto()
const identity = createIdentity(generatePrivateKey(seededRandom('access')), crypto)
const part = partOf(0)
const [self, stranger] = [nodeId(9), nodeId(8)]
const [user, delegate] = [identityOf('user'), identityOf('delegate')]
const notPermitted = { code: 'NOT_PERMITTED' }

describe('Access', () => {
  let subscribers: NodeId[]
  let publishers: NodeId[]
  let storageNodes: NodeId[]
  let isReadable: boolean
  /** By the ids of their links. */
  let acting: Map<NodeId, ActingFor>
  /** Whether delegations are in force; undefined: not known before the registry is asked. */
  let isInForce: boolean | undefined
  let asked: NodeId[]
  /** Look-ups of delegations after which nothing is known, as the registry told of a change meanwhile. */
  let overtaken: number
  /** What asking the registry about delegations throws. */
  let away: Error | undefined
  let access: Access
  const clock = new TestClock()

  beforeEach(() => {
    subscribers = []
    publishers = []
    storageNodes = [self]
    isReadable = true
    acting = new Map()
    isInForce = true
    asked = []
    overtaken = 0
    away = undefined
    const client = {
      nodeId: self,
      getStream: async () => {
        if (isRunnelError(away, 'STREAM_NOT_FOUND')) throw away
        return { id: streamId, partitions: 1, metadata: '', trackers: [], createdMs: 0 }
      },
      permissionsOf: async (_: string, user: string) => ({
        ...{ edit: false, delete: false, grant: false },
        publishUntilMs: publishers.some((publisher) => publisher === user) ? Infinity : 0,
        subscribeUntilMs: subscribers.some((subscriber) => subscriber === user) ? Infinity : 0,
      }),
      getStorageNodes: async () => {
        if (!isReadable) throw clientError('CHAIN_UNREACHABLE')
        return storageNodes.map((id) => ({ nodeId: id, url: `ws://${id}` }))
      },
      chainId: 1,
      network: { actingFor: (peerId: NodeId) => acting.get(peerId) },
      readerPolicy: {
        readsForMs: () => (isInForce === undefined ? undefined : isInForce ? Infinity : 0),
        resolve: async (_: string, userId: NodeId) => {
          if (away !== undefined) throw away
          asked.push(userId)
          if (overtaken-- <= 0) isInForce = true
        },
      },
      publisherPolicy: {
        check: () => (isInForce === undefined ? 'unknown' : isInForce ? 'allowed' : 'denied'),
        resolve: async (_: string, userId: NodeId) => {
          if (away !== undefined) throw away
          asked.push(userId)
          if (overtaken-- <= 0) isInForce = true
        },
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

  it('lets publishers pass to the key part, and to no other', async () => {
    const toKeys = (requesterId: NodeId) =>
      access.requireSubscriber(partOf(keyPartition), { requesterId, token: undefined })
    await expect(toKeys(stranger)).rejects.toMatchObject(notPermitted)
    publishers = [stranger]
    await toKeys(stranger)
    await expect(ask(stranger)).rejects.toMatchObject(notPermitted)
    const beyond = access.requireSubscriber(partOf(1), { requesterId: stranger, token: undefined })
    await expect(beyond).rejects.toMatchObject({ code: 'UNKNOWN_STREAM' })
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

  const delegationOf = (changes: Partial<DelegationClaim> = {}) =>
    delegationFrom(user, delegate, { fromMs: clock.now() - 1, untilMs: clock.now() + 60_000, ...changes })
  const actsFor = (requesterId: NodeId, changes: Partial<DelegationClaim> = {}) => {
    const delegation = delegationOf(changes)
    const { userId, untilMs } = delegation
    acting.set(requesterId, { userId, untilMs, delegation, isKeySigned: true })
  }

  it('lets those pass who act for a subscriber, as proved on their links, within what they were let', async () => {
    subscribers = [user.nodeId]
    actsFor(stranger)
    await ask(stranger)
    await access.requireStillSubscriber(part, { requesterId: stranger, token: undefined })
    actsFor(stranger, { streams: [streamId], publishes: false })
    await ask(stranger)
    actsFor(stranger, { reads: false })
    await expect(ask(stranger)).rejects.toMatchObject({ code: 'DELEGATION_SCOPE' })
    actsFor(stranger, { streams: [toStreamId(`${user.nodeId}/other`)] })
    await expect(ask(stranger)).rejects.toMatchObject({ code: 'DELEGATION_SCOPE' })
    // Its own permission is not asked for while it acts for another.
    subscribers = [stranger]
    actsFor(stranger)
    await expect(ask(stranger)).rejects.toMatchObject(notPermitted)
    storageNodes = [stranger]
    await ask(stranger)
  })

  it('asks the registry whether a delegation was taken back, and says so', async () => {
    subscribers = [user.nodeId]
    actsFor(stranger)
    isInForce = undefined
    await ask(stranger)
    expect(asked).toEqual([user.nodeId])
    isInForce = false
    const revoked = { code: 'DELEGATION_REVOKED' }
    await expect(ask(stranger)).rejects.toMatchObject(revoked)
    const asker = { requesterId: stranger, token: undefined }
    await expect(access.requireStillSubscriber(part, asker)).rejects.toMatchObject(revoked)
  })

  it('lets those ask after messages who act for their publisher and may publish', async () => {
    const asker = { requesterId: stranger, token: undefined }
    const askAfter = () => access.requirePublisherOrSubscriber(part, user.nodeId, asker)
    await expect(askAfter()).rejects.toMatchObject(notPermitted)
    actsFor(stranger, { reads: false })
    await askAfter()
    actsFor(stranger, { publishes: false })
    await expect(askAfter()).rejects.toMatchObject(notPermitted)
  })

  describe('of those who ask after messages for their publisher', () => {
    const asker = { requesterId: stranger, token: undefined }
    const askAfter = (publisherId = user.nodeId) =>
      access.requirePublisherOrSubscriber(part, publisherId, asker)

    it('asks the registry whether the delegation is in force, and turns those away whose is not', async () => {
      actsFor(stranger, { reads: false })
      isInForce = undefined
      await askAfter()
      expect(asked).toEqual([user.nodeId])
      isInForce = false
      await expect(askAfter()).rejects.toMatchObject({ code: 'DELEGATION_SCOPE' })
      // Nor by what it may read: the delegation is the same.
      subscribers = [user.nodeId]
      actsFor(stranger)
      await expect(askAfter()).rejects.toMatchObject({ code: 'DELEGATION_REVOKED' })
    })

    it('turns nobody away of whom the registry tells a change while it is asked', async () => {
      actsFor(stranger, { reads: false })
      isInForce = undefined
      overtaken = 1
      await askAfter()
      subscribers = [user.nodeId]
      actsFor(stranger)
      isInForce = undefined
      overtaken = 1
      await ask(stranger)
    })

    it('lets nobody pass for another publisher, for another stream, or after the end', async () => {
      actsFor(stranger, { reads: false })
      await expect(askAfter(identity.nodeId)).rejects.toMatchObject({ code: 'DELEGATION_SCOPE' })
      actsFor(stranger, { streams: [toStreamId(`${user.nodeId}/other`)] })
      await expect(askAfter()).rejects.toMatchObject({ code: 'DELEGATION_SCOPE' })
      actsFor(stranger, { untilMs: clock.now() })
      await expect(askAfter()).rejects.toMatchObject({ code: 'DELEGATION_EXPIRED' })
    })

    it('takes a token of the delegate with the delegation for the publisher', async () => {
      const claim = { requesterId: anyRequester, storageNodeId: self, expiresMs: clock.now() + 1000 }
      const token = signAccessToken(claim, crypto, delegate)
      const askWith = (delegation: ReturnType<typeof delegationOf>) =>
        access.requirePublisherOrSubscriber(part, user.nodeId, {
          ...{ requesterId: anyRequester, token, delegation },
        })
      await askWith(delegationOf({ reads: false }))
      await expect(askWith(delegationOf({ publishes: false }))).rejects.toMatchObject(notPermitted)
      isInForce = false
      await expect(askWith(delegationOf({ reads: false }))).rejects.toMatchObject({
        code: 'DELEGATION_SCOPE',
      })
    })

    it('says that the registry does not answer, and why, instead of turning them away', async () => {
      actsFor(stranger)
      isInForce = undefined
      away = new Error('no chain')
      const failed = { code: 'STORE_FAILED', cause: away }
      await expect(askAfter()).rejects.toMatchObject(failed)
      subscribers = [user.nodeId]
      await expect(ask(stranger)).rejects.toMatchObject(failed)
    })
  })

  it('says of what is not there why it thinks so', async () => {
    away = clientError('STREAM_NOT_FOUND')
    await expect(ask(stranger)).rejects.toMatchObject({ code: 'UNKNOWN_STREAM', cause: away })
  })

  it('takes a delegation with a token of its delegate, where there is no link', async () => {
    subscribers = [user.nodeId]
    const claim = { requesterId: anyRequester, storageNodeId: self, expiresMs: clock.now() + 1000 }
    const token = signAccessToken(claim, crypto, delegate)
    const ofOther = signAccessToken(claim, crypto, identity)
    const askWith = (delegation = delegationOf(), shown: typeof token | undefined = token) =>
      access.requireSubscriber(part, { requesterId: anyRequester, token: shown, delegation })
    await askWith()
    const refused = async (asking: Promise<void>, code: string) =>
      expect(asking).rejects.toMatchObject({ code })
    await refused(askWith(delegationOf(), ofOther), 'DELEGATION_NOT_YOURS')
    await refused(
      access.requireSubscriber(part, {
        requesterId: anyRequester,
        token: undefined,
        delegation: delegationOf(),
      }),
      'DELEGATION_NOT_YOURS',
    )
    await refused(askWith(delegationOf({ chainId: 2 })), 'DELEGATION_OTHER_CHAIN')
    await refused(askWith(delegationOf({ untilMs: clock.now() })), 'DELEGATION_EXPIRED')
    await refused(askWith(delegationOf({ untilMs: clock.now() + 400 * 86_400_000 })), 'DELEGATION_TOO_LONG')
    await refused(askWith(delegationOf({ reads: false })), 'DELEGATION_SCOPE')
    await refused(askWith({ ...delegationOf(), userId: identity.nodeId }), 'DELEGATION_FORGED')
    await refused(askWith(delegationOf(), { ...token, expiresMs: token.expiresMs + 1 }), 'TOKEN_INVALID')
    subscribers = [delegate.nodeId]
    await refused(askWith(), 'NOT_PERMITTED')
    // A contract's signature is no key's: the registry knows whether it backs it.
    subscribers = [user.nodeId]
    const ofContract = { ...delegationOf({ block: 7 }), signature: new Uint8Array(130) }
    await askWith(ofContract)
    isInForce = false
    await refused(askWith(ofContract), 'DELEGATION_REVOKED')
  })
})
