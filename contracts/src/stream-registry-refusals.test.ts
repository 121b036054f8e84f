import { id, isCallException, toBeHex, ZeroAddress } from 'ethers'
import { beforeEach, describe, expect, it } from 'vitest'
import { mined, plain, revertOf, useChain } from './chain.testkit.ts'
import { FOREVER, Permission } from './permission.ts'
import type { StreamRegistry } from './registries.ts'

const chain = useChain()
const none = { canEdit: false, canDelete: false, canGrant: false, publishExpiry: 0n, subscribeExpiry: 0n }
let streamId = ''

beforeEach(async () => {
  const { streams, owner } = chain()
  await mined(streams.createStream('mine', '', 1, []))
  streamId = `${owner.address.toLowerCase()}/mine`
})

/** Every call that needs a permission on the stream, made with arguments that are right but for the caller or id. */
const guarded: {
  readonly method: string
  readonly permission: Permission
  readonly call: (streams: StreamRegistry, streamId: string, user: string) => Promise<unknown>
}[] = [
  {
    method: 'updateStream',
    permission: Permission.edit,
    call: (it, stream) => it.updateStream(stream, '', 1),
  },
  { method: 'setTrackers', permission: Permission.edit, call: (it, stream) => it.setTrackers(stream, []) },
  { method: 'deleteStream', permission: Permission.delete, call: (it, stream) => it.deleteStream(stream) },
  {
    method: 'grantPermission',
    permission: Permission.grant,
    call: (it, stream, user) => it.grantPermission(stream, user, Permission.publish, FOREVER),
  },
  {
    method: 'revokePermission',
    permission: Permission.grant,
    call: (it, stream, user) => it.revokePermission(stream, user, Permission.publish),
  },
  {
    method: 'setPermissions',
    permission: Permission.grant,
    call: (it, stream, user) => it.setPermissions(stream, [{ user, permissions: none }]),
  },
  {
    method: 'setPublicPermissions',
    permission: Permission.grant,
    call: (it, stream) => it.setPublicPermissions(stream, 0, 0),
  },
]

describe('StreamRegistry, to whoever holds Grant, refuses', () => {
  beforeEach(async () => {
    const { streams, alice } = chain()
    await mined(streams.grantPermission(streamId, alice.address, Permission.grant, FOREVER))
  })

  it('to take anything from the owner, or to let it end sooner', async () => {
    const { streams, owner, alice } = chain()
    const theirs = streams.connect(alice)
    const all = {
      ...{ canEdit: true, canDelete: true, canGrant: true },
      ...{ publishExpiry: FOREVER, subscribeExpiry: FOREVER },
    }
    const less = [
      { canEdit: false },
      { canDelete: false },
      { canGrant: false },
      { publishExpiry: FOREVER - 1n },
      { subscribeExpiry: 0n },
    ].map((change) =>
      theirs.setPermissions(streamId, [{ user: owner.address, permissions: { ...all, ...change } }]),
    )
    const shorter = [Permission.publish, Permission.subscribe].map((permission) =>
      theirs.grantPermission(streamId, owner.address, permission, FOREVER - 1n),
    )
    const taken = Object.values(Permission).map((permission) =>
      theirs.revokePermission(streamId, owner.address, permission),
    )
    for (const call of [...less, ...shorter, ...taken]) {
      expect(await revertOf(call)).toMatchObject({
        name: 'StreamRegistry__OwnerProtected',
        args: { streamKey: id(streamId), owner: owner.address },
      })
    }
    expect(plain(await streams.directPermissions(streamId, owner.address))).toEqual(all)
  })

  it('nothing else: they take from each other, and from the owner what the owner does not have', async () => {
    const { streams, owner, alice, bob } = chain()
    await mined(streams.grantPermission(streamId, bob.address, Permission.grant, FOREVER))
    await mined(streams.connect(alice).revokePermission(streamId, bob.address, Permission.grant))
    await mined(streams.revokePermission(streamId, owner.address, Permission.grant))
    await mined(streams.connect(alice).revokePermission(streamId, owner.address, Permission.grant))
    await mined(streams.connect(alice).grantPermission(streamId, owner.address, Permission.grant, FOREVER))
    expect(await streams.hasPermission(streamId, owner.address, Permission.grant)).toBe(true)
    expect(await streams.hasPermission(streamId, bob.address, Permission.grant)).toBe(false)
  })
})

describe.each(guarded)('StreamRegistry.$method refuses', ({ permission, call }) => {
  it('whoever has every permission but the one it needs', async () => {
    const { streams, alice } = chain()
    const allButOne = {
      canEdit: permission !== Permission.edit,
      canDelete: permission !== Permission.delete,
      canGrant: permission !== Permission.grant,
      publishExpiry: FOREVER,
      subscribeExpiry: FOREVER,
    }
    await mined(streams.setPermissions(streamId, [{ user: alice.address, permissions: allButOne }]))
    expect(await revertOf(call(streams.connect(alice), streamId, alice.address))).toMatchObject({
      name: 'StreamRegistry__NotPermitted',
      args: { streamKey: id(streamId), user: alice.address, permission: BigInt(permission) },
    })
  })

  it('a stream that does not exist, or no longer', async () => {
    const { streams, owner } = chain()
    const refused = (unknown: string) => ({ name: 'StreamRegistry__NotFound', args: { streamId: unknown } })
    expect(await revertOf(call(streams, `${streamId}x`, owner.address))).toMatchObject(
      refused(`${streamId}x`),
    )
    await mined(streams.deleteStream(streamId))
    expect(await revertOf(call(streams, streamId, owner.address))).toMatchObject(refused(streamId))
  })
})

describe('StreamRegistry refuses', () => {
  it.each([
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    'a b',
    'a#1',
    'ä',
    'a\n',
    'a,', // next to - . /
    'a:', // next to the digits
    'a@',
    'a[',
    'a`',
    'a{',
    'p'.repeat(201),
  ])('the path %j', async (path) => {
    const { streams } = chain()
    expect(await revertOf(streams.createStream(path, '', 1, []))).toMatchObject({
      name: 'StreamRegistry__InvalidPath',
      args: { path },
    })
  })

  it('a stream that exists', async () => {
    const { streams } = chain()
    expect(await revertOf(streams.createStream('mine', '', 1, []))).toMatchObject({
      name: 'StreamRegistry__AlreadyExists',
      args: { streamId },
    })
  })

  it.each([0, 101, 255])('%d partitions', async (partitions) => {
    const { streams } = chain()
    const expected = {
      name: 'StreamRegistry__InvalidPartitions',
      args: { partitions: BigInt(partitions), maxPartitions: 100n },
    }
    expect(await revertOf(streams.createStream('other', '', partitions, []))).toMatchObject(expected)
    expect(await revertOf(streams.updateStream(streamId, '', partitions))).toMatchObject(expected)
  })

  it('metadata that is too long', async () => {
    const { streams } = chain()
    const metadata = 'm'.repeat(4097)
    const expected = {
      name: 'StreamRegistry__MetadataTooLong',
      args: { lengthBytes: 4097n, maxBytes: 4096n },
    }
    expect(await revertOf(streams.createStream('other', metadata, 1, []))).toMatchObject(expected)
    expect(await revertOf(streams.updateStream(streamId, metadata, 1))).toMatchObject(expected)
  })

  it('too many trackers, the zero address, and a tracker twice', async () => {
    const { streams, alice, bob } = chain()
    const tooMany = Array.from({ length: 17 }, (_, index) => toBeHex(index + 1, 20))
    const cases = [
      { trackers: tooMany, name: 'StreamRegistry__TooManyTrackers', args: { count: 17n, maxCount: 16n } },
      {
        trackers: [alice.address, ZeroAddress],
        name: 'StreamRegistry__InvalidTracker',
        args: { tracker: ZeroAddress },
      },
      {
        trackers: [alice.address, bob.address, alice.address],
        name: 'StreamRegistry__DuplicateTracker',
        args: { tracker: alice.address },
      },
    ]
    for (const { trackers, name, args } of cases) {
      expect(await revertOf(streams.createStream('other', '', 1, trackers))).toMatchObject({ name, args })
      expect(await revertOf(streams.setTrackers(streamId, trackers))).toMatchObject({ name, args })
    }
  })

  it('the zero address as a user, and then sets nobody of a batch', async () => {
    const { streams, alice } = chain()
    const expected = { name: 'StreamRegistry__InvalidUser', args: { user: ZeroAddress } }
    const grant = streams.grantPermission(streamId, ZeroAddress, Permission.publish, FOREVER)
    expect(await revertOf(grant)).toMatchObject(expected)
    const revoke = streams.revokePermission(streamId, ZeroAddress, Permission.publish)
    expect(await revertOf(revoke)).toMatchObject(expected)
    const batch = streams.setPermissions(
      streamId,
      [
        { user: alice.address, permissions: { ...none, canEdit: true } },
        { user: ZeroAddress, permissions: none },
      ],
      { gasLimit: 1_000_000 },
    )
    await expect(mined(batch)).rejects.toSatisfy((error) => isCallException(error))
    expect(await streams.hasPermission(streamId, alice.address, Permission.edit)).toBe(false)
  })

  it.each([Permission.publish, Permission.subscribe])(
    'to grant permission %d until now',
    async (permission) => {
      const { streams, provider, alice } = chain()
      const block = await provider.getBlock('latest')
      const blockTimestamp = BigInt(block?.timestamp ?? 0)
      const grant = (expiry: bigint) =>
        streams.grantPermission.staticCall(streamId, alice.address, permission, expiry, {
          blockTag: 'latest',
        })
      for (const expiry of [0n, blockTimestamp]) {
        expect(await revertOf(grant(expiry))).toMatchObject({
          name: 'StreamRegistry__ExpiryInPast',
          args: { expiry, blockTimestamp },
        })
      }
      await expect(grant(blockTimestamp + 1n)).resolves.toBeDefined()
    },
  )

  it.each([Permission.edit, Permission.delete, Permission.grant])(
    'an expiry for permission %d, which has none',
    async (permission) => {
      const { streams, alice } = chain()
      for (const expiry of [0n, FOREVER - 1n]) {
        expect(
          await revertOf(streams.grantPermission(streamId, alice.address, permission, expiry)),
        ).toMatchObject({
          name: 'StreamRegistry__ExpiryNotSupported',
          args: { permission: BigInt(permission), expiry },
        })
      }
    },
  )

  it('a permission that is none, in the ABI decoder', async () => {
    const { streams, alice } = chain()
    const calls = [
      streams.grantPermission(streamId, alice.address, 5, FOREVER),
      streams.revokePermission(streamId, alice.address, 5),
      streams.hasPermission(streamId, alice.address, 5),
    ]
    for (const result of await Promise.allSettled(calls)) {
      expect(result.status === 'rejected' && isCallException(result.reason)).toBe(true)
    }
  })

  it('to return a stream that does not exist', async () => {
    const { streams } = chain()
    expect(await revertOf(streams.getStream('nothing'))).toMatchObject({
      name: 'StreamRegistry__NotFound',
      args: { streamId: 'nothing' },
    })
  })
})
