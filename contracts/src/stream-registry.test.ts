import { getAddress, id, toBeHex, ZeroAddress } from 'ethers'
import { describe, expect, it } from 'vitest'
import { eventsOf, mined, plain, useChain, type TestChain } from './chain.testkit.ts'
import { FOREVER, Permission } from './permission.ts'

const chain = useChain()
const all = {
  canEdit: true,
  canDelete: true,
  canGrant: true,
  publishExpiry: FOREVER,
  subscribeExpiry: FOREVER,
}
const none = { canEdit: false, canDelete: false, canGrant: false, publishExpiry: 0n, subscribeExpiry: 0n }

/** Creates a stream of the owner's and returns its id. */
async function createStream({ streams, owner }: TestChain, path = 'temperature'): Promise<string> {
  await mined(streams.createStream(path, '', 1, []))
  return `${owner.address.toLowerCase()}/${path}`
}

/** Mines a block at a time after all that went before; returns that time in unix seconds. */
async function passTime({ provider }: TestChain, seconds: number): Promise<number> {
  await provider.send('evm_increaseTime', [seconds])
  await provider.send('evm_mine', [])
  return now(provider)
}

async function now(provider: TestChain['provider']): Promise<number> {
  const block = await provider.getBlock('latest')
  if (!block) throw new Error('The chain has no block')
  return block.timestamp
}

describe('StreamRegistry: streams', () => {
  it('creates a stream under the address of its creator, who may do everything with it', async () => {
    const { streams, alice, bob } = chain()
    const streamId = `${alice.address.toLowerCase()}/a/B.c_d-9`
    const streamKey = id(streamId)
    const create = streams.connect(alice).createStream('a/B.c_d-9', '{"x":1}', 100, [bob.address])
    expect(await eventsOf(streams, create)).toEqual([
      {
        name: 'StreamCreated',
        args: { streamKey, owner: alice.address, streamId, metadata: '{"x":1}', partitions: 100n },
      },
      { name: 'StreamTrackersChanged', args: { streamKey, streamId, trackers: [bob.address] } },
      { name: 'PermissionsChanged', args: { streamKey, user: alice.address, streamId, permissions: all } },
    ])
    expect(plain(await streams.getStream(streamId))).toEqual({
      streamId,
      metadata: '{"x":1}',
      partitions: 100n,
      trackers: [bob.address],
      generation: 0n,
      createdAt: BigInt(await now(chain().provider)),
    })
    expect(await streams.exists(streamId)).toBe(true)
    expect(await streams.streamIdOf(streamKey)).toBe(streamId)
    expect(plain(await streams.directPermissions(streamId, alice.address))).toEqual(all)
  })

  it('knows when a stream was created, also one that was made again', async () => {
    const { streams, provider } = chain()
    const streamId = await createStream(chain())
    const createdAt = BigInt(await now(provider))
    await passTime(chain(), 1000)
    await mined(streams.updateStream(streamId, 'changed', 2))
    expect((await streams.getStream(streamId)).createdAt).toBe(createdAt)
    await mined(streams.deleteStream(streamId))
    await createStream(chain())
    const [stream] = await streams.listStreams(0, 1)
    expect(stream?.createdAt).toBe(BigInt(await now(provider)))
    expect(stream?.createdAt).toBeGreaterThanOrEqual(createdAt + 1000n)
  })

  it('keeps the same path of two creators apart', async () => {
    const { streams, owner, alice } = chain()
    await createStream(chain(), 'same')
    await mined(streams.connect(alice).createStream('same', 'hers', 2, []))
    expect((await streams.getStream(`${owner.address.toLowerCase()}/same`)).metadata).toBe('')
    expect((await streams.getStream(`${alice.address.toLowerCase()}/same`)).metadata).toBe('hers')
  })

  it('accepts the longest path, metadata and tracker list', async () => {
    const { streams, owner } = chain()
    const trackers = Array.from({ length: 16 }, (_, index) => toBeHex(index + 1, 20))
    await mined(streams.createStream('p'.repeat(200), 'm'.repeat(4096), 1, trackers))
    const stream = await streams.getStream(`${owner.address.toLowerCase()}/${'p'.repeat(200)}`)
    expect(stream.metadata).toHaveLength(4096)
    expect(plain(stream.trackers)).toEqual(trackers.map((it) => getAddress(it)))
  })

  it('knows nothing of an id it does not have', async () => {
    const { streams, owner } = chain()
    const streamId = `${owner.address.toLowerCase()}/nothing`
    expect(await streams.exists(streamId)).toBe(false)
    expect(await streams.streamIdOf(id(streamId))).toBe('')
    expect(await streams.hasPermission(streamId, owner.address, Permission.edit)).toBe(false)
    expect(plain(await streams.effectivePermissions(streamId, owner.address))).toEqual(none)
  })

  it('updates metadata and partitions', async () => {
    const { streams } = chain()
    const streamId = await createStream(chain())
    expect(await eventsOf(streams, streams.updateStream(streamId, 'new', 7))).toEqual([
      { name: 'StreamUpdated', args: { streamKey: id(streamId), streamId, metadata: 'new', partitions: 7n } },
    ])
    const stream = await streams.getStream(streamId)
    expect([stream.metadata, stream.partitions]).toEqual(['new', 7n])
  })

  it('replaces and clears the trackers of a stream', async () => {
    const { streams, alice, bob } = chain()
    const streamId = await createStream(chain())
    const set = streams.setTrackers(streamId, [alice.address, bob.address])
    expect(await eventsOf(streams, set)).toEqual([
      {
        name: 'StreamTrackersChanged',
        args: { streamKey: id(streamId), streamId, trackers: [alice.address, bob.address] },
      },
    ])
    await mined(streams.setTrackers(streamId, [bob.address]))
    expect(plain((await streams.getStream(streamId)).trackers)).toEqual([bob.address])
    await mined(streams.setTrackers(streamId, []))
    expect(plain((await streams.getStream(streamId)).trackers)).toEqual([])
  })

  it('lists streams by pages, also past the end', async () => {
    const { streams } = chain()
    const ids: string[] = []
    for (const path of ['a', 'b', 'c']) ids.push(await createStream(chain(), path))
    const page = async (offset: number, limit: bigint | number) =>
      (await streams.listStreams(offset, limit)).map((it) => it.streamId)
    expect(await streams.streamCount()).toBe(3n)
    expect(await page(0, 2)).toEqual(ids.slice(0, 2))
    expect(await page(2, 2)).toEqual(ids.slice(2))
    expect(await page(3, 2)).toEqual([])
    expect(await page(1, 2n ** 256n - 1n)).toEqual(ids.slice(1))
  })

  it('deletes a stream and all permissions on it, also for the next stream of that id', async () => {
    const { streams, owner, alice, bob } = chain()
    const streamId = await createStream(chain())
    await mined(streams.setTrackers(streamId, [bob.address]))
    await mined(streams.grantPermission(streamId, alice.address, Permission.delete, FOREVER))
    await mined(streams.grantPermission(streamId, bob.address, Permission.publish, FOREVER))
    await mined(streams.setPublicPermissions(streamId, FOREVER, FOREVER))

    expect(await eventsOf(streams, streams.connect(alice).deleteStream(streamId))).toEqual([
      { name: 'StreamDeleted', args: { streamKey: id(streamId), streamId } },
    ])
    expect(await streams.exists(streamId)).toBe(false)
    expect(await streams.streamCount()).toBe(0n)
    expect(await streams.generationOf(id(streamId))).toBe(1n)
    expect(await streams.hasPermission(streamId, owner.address, Permission.grant)).toBe(false)

    await createStream(chain())
    const stream = await streams.getStream(streamId)
    expect([stream.generation, plain(stream.trackers)]).toEqual([1n, []])
    expect(plain(await streams.directPermissions(streamId, owner.address))).toEqual(all)
    expect(plain(await streams.directPermissions(streamId, alice.address))).toEqual(none)
    expect(plain(await streams.effectivePermissions(streamId, bob.address))).toEqual(none)
    expect(plain(await streams.publicPermissions(streamId))).toEqual(none)
  })
})

describe('StreamRegistry: permissions', () => {
  it.each([
    { permission: Permission.edit, granted: { ...none, canEdit: true } },
    { permission: Permission.delete, granted: { ...none, canDelete: true } },
    { permission: Permission.publish, granted: { ...none, publishExpiry: FOREVER } },
    { permission: Permission.subscribe, granted: { ...none, subscribeExpiry: FOREVER } },
    { permission: Permission.grant, granted: { ...none, canGrant: true } },
  ])('grants and revokes permission $permission and no other', async ({ permission, granted }) => {
    const { streams, alice } = chain()
    const streamId = await createStream(chain())
    const change = { streamKey: id(streamId), user: alice.address, streamId }
    const grant = streams.grantPermission(streamId, alice.address, permission, FOREVER)
    expect(await eventsOf(streams, grant)).toEqual([
      { name: 'PermissionsChanged', args: { ...change, permissions: granted } },
    ])
    for (const each of Object.values(Permission)) {
      expect(await streams.hasPermission(streamId, alice.address, each)).toBe(each === permission)
    }
    const revoke = streams.revokePermission(streamId, alice.address, permission)
    expect(await eventsOf(streams, revoke)).toEqual([
      { name: 'PermissionsChanged', args: { ...change, permissions: none } },
    ])
    expect(await streams.hasPermission(streamId, alice.address, permission)).toBe(false)
  })

  it('adds to and takes from what a user has', async () => {
    const { streams, owner } = chain()
    const streamId = await createStream(chain())
    await mined(streams.revokePermission(streamId, owner.address, Permission.publish))
    expect(plain(await streams.directPermissions(streamId, owner.address))).toEqual({
      ...all,
      publishExpiry: 0n,
    })
    await mined(streams.grantPermission(streamId, owner.address, Permission.publish, 2n ** 40n))
    expect(plain(await streams.directPermissions(streamId, owner.address))).toEqual({
      ...all,
      publishExpiry: 2n ** 40n,
    })
  })

  it('lets whoever has a permission use it', async () => {
    const { streams, alice, bob } = chain()
    const streamId = await createStream(chain())
    const hers = streams.connect(alice)
    await mined(streams.grantPermission(streamId, alice.address, Permission.edit, FOREVER))
    await mined(hers.updateStream(streamId, 'edited', 2))
    await mined(hers.setTrackers(streamId, [bob.address]))
    await mined(streams.grantPermission(streamId, alice.address, Permission.grant, FOREVER))
    await mined(hers.grantPermission(streamId, bob.address, Permission.subscribe, FOREVER))
    await mined(hers.revokePermission(streamId, bob.address, Permission.subscribe))
    await mined(hers.setPermissions(streamId, [{ user: bob.address, permissions: all }]))
    await mined(hers.setPublicPermissions(streamId, 0, FOREVER))
    await mined(streams.connect(bob).deleteStream(streamId))
    expect(await streams.exists(streamId)).toBe(false)
  })

  it('ends at the expiry, to the second', async () => {
    const { streams, provider, alice } = chain()
    const streamId = await createStream(chain())
    const expiry = (await now(provider)) + 1000
    await mined(streams.grantPermission(streamId, alice.address, Permission.publish, expiry))
    await mined(streams.grantPermission(streamId, alice.address, Permission.subscribe, expiry + 1))
    const holds = (permission: Permission) => streams.hasPermission(streamId, alice.address, permission)
    const mineAt = async (time: number) => {
      await provider.send('evm_setNextBlockTimestamp', [time])
      await provider.send('evm_mine', [])
    }
    await mineAt(expiry - 1)
    expect([await holds(Permission.publish), await holds(Permission.subscribe)]).toEqual([true, true])
    await mineAt(expiry)
    expect([await holds(Permission.publish), await holds(Permission.subscribe)]).toEqual([false, true])
    await mineAt(expiry + 1)
    expect([await holds(Permission.publish), await holds(Permission.subscribe)]).toEqual([false, false])
    expect((await streams.directPermissions(streamId, alice.address)).publishExpiry).toBe(BigInt(expiry))
  })

  it('sets several users at once, the last mention of one counting', async () => {
    const { streams, owner, alice, bob } = chain()
    const streamId = await createStream(chain())
    const publisher = { ...none, publishExpiry: FOREVER }
    const set = streams.setPermissions(streamId, [
      { user: alice.address, permissions: all },
      { user: bob.address, permissions: publisher },
      { user: alice.address, permissions: none },
      { user: owner.address, permissions: { ...all, canDelete: false } },
    ])
    expect((await eventsOf(streams, set)).map((it) => it.name)).toEqual(Array(4).fill('PermissionsChanged'))
    expect(plain(await streams.directPermissions(streamId, alice.address))).toEqual(none)
    expect(plain(await streams.directPermissions(streamId, bob.address))).toEqual(publisher)
    expect(await streams.hasPermission(streamId, owner.address, Permission.delete)).toBe(false)
  })

  it('opens a stream to everybody, and takes the longer of what is public and what is the user’s own', async () => {
    const chainNow = chain()
    const { streams, provider, alice, bob } = chainNow
    const streamId = await createStream(chainNow)
    const soon = BigInt((await now(provider)) + 100)
    const late = soon + 100n
    await mined(streams.grantPermission(streamId, alice.address, Permission.publish, late))
    await mined(streams.grantPermission(streamId, alice.address, Permission.subscribe, soon))
    expect(await eventsOf(streams, streams.setPublicPermissions(streamId, soon, late))).toEqual([
      {
        name: 'PublicPermissionsChanged',
        args: { streamKey: id(streamId), streamId, publishExpiry: soon, subscribeExpiry: late },
      },
    ])
    expect(plain(await streams.publicPermissions(streamId))).toEqual({
      ...none,
      publishExpiry: soon,
      subscribeExpiry: late,
    })
    const effective = await streams.effectivePermissions(streamId, alice.address)
    expect([effective.publishExpiry, effective.subscribeExpiry]).toEqual([late, late])
    expect(await streams.hasPermission(streamId, bob.address, Permission.publish)).toBe(true)
    expect(await streams.hasPermission(streamId, ZeroAddress, Permission.publish)).toBe(true)
    expect(plain(await streams.directPermissions(streamId, bob.address))).toEqual(none)

    await passTime(chainNow, 150)
    expect(await streams.hasPermission(streamId, bob.address, Permission.publish)).toBe(false)
    expect(await streams.hasPermission(streamId, alice.address, Permission.publish)).toBe(true)
    await mined(streams.setPublicPermissions(streamId, 0, 0))
    expect(await streams.hasPermission(streamId, bob.address, Permission.subscribe)).toBe(false)
  })
})
