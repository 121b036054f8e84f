import { id, parseEther, Wallet, ZeroAddress } from 'ethers'
import { beforeEach, describe, expect, it } from 'vitest'
import { eventsOf, mined, plain, revertOf, useChain } from './chain.testkit.ts'
import { deployContract } from './deploy.ts'
import * as compiledStorage from './generated/storage-registry.ts'
import { FOREVER, Permission } from './permission.ts'

const chain = useChain()
const url = 'https://storage.example'
let streamId = ''
let streamKey = ''

beforeEach(async () => {
  const { streams, owner } = chain()
  await mined(streams.createStream('kept', '', 1, []))
  streamId = `${owner.address.toLowerCase()}/kept`
  streamKey = id(streamId)
})

/** Makes the accounts storage nodes. */
async function register(...names: ('alice' | 'bob')[]): Promise<void> {
  for (const name of names) await mined(chain().storage.connect(chain()[name]).registerNode(url, name))
}

async function recreateStream(): Promise<void> {
  const { streams } = chain()
  await mined(streams.deleteStream(streamId))
  await mined(streams.createStream('kept', '', 1, []))
}

async function addressesOf(stream: string): Promise<string[]> {
  return (await chain().storage.nodesOf(stream)).map((it) => it.node)
}

describe('StorageRegistry: nodes', () => {
  it('lets a node register, update and remove itself', async () => {
    const { storage, alice } = chain()
    const hers = storage.connect(alice)
    const node = alice.address
    expect(await eventsOf(storage, hers.registerNode(url, 'm'))).toEqual([
      { name: 'StorageNodeRegistered', args: { node, url, metadata: 'm' } },
    ])
    expect(plain(await storage.getNode(node))).toEqual({ node, url, metadata: 'm' })
    expect(await eventsOf(storage, hers.updateNode('https://new.example', ''))).toEqual([
      { name: 'StorageNodeUpdated', args: { node, url: 'https://new.example', metadata: '' } },
    ])
    expect((await storage.getNode(node)).url).toBe('https://new.example')
    expect(await eventsOf(storage, hers.removeNode())).toEqual([
      { name: 'StorageNodeRemoved', args: { node } },
    ])
    expect([await storage.isRegistered(node), await storage.nodeCount()]).toEqual([false, 0n])
  })

  it('lists nodes by pages, also past the end', async () => {
    const { storage, alice, bob } = chain()
    await register('alice', 'bob')
    const page = async (offset: number, limit: bigint | number) =>
      (await storage.listNodes(offset, limit)).map((it) => it.node)
    expect(await storage.nodeCount()).toBe(2n)
    expect(await page(0, 1)).toEqual([alice.address])
    expect(await page(1, 2n ** 256n - 1n)).toEqual([bob.address])
    expect(await page(2, 1)).toEqual([])
  })

  it('accepts the longest URL and metadata', async () => {
    const { storage, alice } = chain()
    await mined(storage.connect(alice).registerNode('u'.repeat(256), 'm'.repeat(1024)))
    expect((await storage.getNode(alice.address)).url).toHaveLength(256)
  })

  it('refuses a node twice', async () => {
    const { storage, alice } = chain()
    await register('alice')
    expect(await revertOf(storage.connect(alice).registerNode(url, ''))).toMatchObject({
      name: 'StorageRegistry__AlreadyRegistered',
      args: { node: alice.address },
    })
  })

  it('refuses to update, remove, return or assign a node that is not registered', async () => {
    const { storage, alice } = chain()
    const expected = { name: 'StorageRegistry__NotRegistered', args: { node: alice.address } }
    expect(await revertOf(storage.connect(alice).updateNode(url, ''))).toMatchObject(expected)
    expect(await revertOf(storage.connect(alice).removeNode())).toMatchObject(expected)
    expect(await revertOf(storage.getNode(alice.address))).toMatchObject(expected)
    expect(await revertOf(storage.assign(streamId, alice.address))).toMatchObject(expected)
  })

  it.each([
    { length: 'none', badUrl: '' },
    { length: 'one byte too many', badUrl: 'u'.repeat(257) },
  ])('refuses a URL of $length', async ({ badUrl }) => {
    const { storage, alice, bob } = chain()
    await register('bob')
    const expected = {
      name: 'StorageRegistry__InvalidUrl',
      args: { lengthBytes: BigInt(badUrl.length), maxBytes: 256n },
    }
    expect(await revertOf(storage.connect(alice).registerNode(badUrl, ''))).toMatchObject(expected)
    expect(await revertOf(storage.connect(bob).updateNode(badUrl, ''))).toMatchObject(expected)
  })

  it('refuses metadata that is too long', async () => {
    const { storage, alice, bob } = chain()
    await register('bob')
    const metadata = 'm'.repeat(1025)
    const expected = {
      name: 'StorageRegistry__MetadataTooLong',
      args: { lengthBytes: 1025n, maxBytes: 1024n },
    }
    expect(await revertOf(storage.connect(alice).registerNode(url, metadata))).toMatchObject(expected)
    expect(await revertOf(storage.connect(bob).updateNode(url, metadata))).toMatchObject(expected)
  })
})

describe('StorageRegistry: assignments', () => {
  it('are made and ended by whoever may edit the stream, and read both ways', async () => {
    const { storage, streams, alice, bob } = chain()
    await register('alice')
    await mined(streams.grantPermission(streamId, bob.address, Permission.edit, FOREVER))
    const editor = storage.connect(bob)
    const args = { streamKey, node: alice.address, streamId }
    expect(await eventsOf(storage, editor.assign(streamId, alice.address))).toEqual([
      { name: 'StreamAssigned', args },
    ])
    expect(plain(await storage.nodesOf(streamId))).toEqual([{ node: alice.address, url, metadata: 'alice' }])
    expect(plain(await storage.streamsOf(alice.address, 0, 10))).toEqual([streamId])
    expect(await storage.streamCountOf(alice.address)).toBe(1n)
    expect(await storage.isAssigned(streamId, alice.address)).toBe(true)
    expect(await storage.isAssigned(streamId, bob.address)).toBe(false)

    expect(await eventsOf(storage, editor.unassign(streamId, alice.address))).toEqual([
      { name: 'StreamUnassigned', args },
    ])
    expect(await addressesOf(streamId)).toEqual([])
    expect(plain(await storage.streamsOf(alice.address, 0, 10))).toEqual([])
    expect(await storage.isAssigned(streamId, alice.address)).toBe(false)
  })

  it('may be declined by the storage node', async () => {
    const { storage, alice } = chain()
    await register('alice')
    await mined(storage.assign(streamId, alice.address))
    await mined(storage.connect(alice).unassign(streamId, alice.address))
    expect(await storage.isAssigned(streamId, alice.address)).toBe(false)
  })

  it('rest while the node is not registered', async () => {
    const { storage, alice, bob } = chain()
    await register('alice', 'bob')
    await mined(storage.assign(streamId, alice.address))
    await mined(storage.assign(streamId, bob.address))
    await mined(storage.connect(alice).removeNode())
    expect(await addressesOf(streamId)).toEqual([bob.address])
    expect(await storage.isAssigned(streamId, alice.address)).toBe(false)
    await register('alice')
    expect(await addressesOf(streamId)).toEqual([alice.address, bob.address])
  })

  it('page through the streams of a node', async () => {
    const { storage, streams, owner, alice } = chain()
    await register('alice')
    const ids = [streamId]
    for (const path of ['second', 'third']) {
      await mined(streams.createStream(path, '', 1, []))
      ids.push(`${owner.address.toLowerCase()}/${path}`)
    }
    for (const each of ids) await mined(storage.assign(each, alice.address))
    expect(plain(await storage.streamsOf(alice.address, 0, 2))).toEqual(ids.slice(0, 2))
    expect(plain(await storage.streamsOf(alice.address, 2, 2n ** 256n - 1n))).toEqual(ids.slice(2))
    await mined(streams.deleteStream(ids[0] ?? ''))
    expect(plain(await storage.streamsOf(alice.address, 0, 2))).toEqual(ids.slice(1, 2))
    expect(await storage.streamCountOf(alice.address)).toBe(3n)
  })

  it('end with the stream, also for the next one of that id', async () => {
    const { storage, alice, bob } = chain()
    await register('alice', 'bob')
    await mined(storage.assign(streamId, alice.address))
    await recreateStream()
    expect(await addressesOf(streamId)).toEqual([])
    expect(await storage.isAssigned(streamId, alice.address)).toBe(false)
    expect(plain(await storage.streamsOf(alice.address, 0, 10))).toEqual([])

    const events = await eventsOf(storage, storage.assign(streamId, bob.address))
    expect(events).toEqual([
      { name: 'StreamUnassigned', args: { streamKey, node: alice.address, streamId } },
      { name: 'StreamAssigned', args: { streamKey, node: bob.address, streamId } },
    ])
    expect(await addressesOf(streamId)).toEqual([bob.address])
    expect(await storage.streamCountOf(alice.address)).toBe(0n)
  })

  it('of a deleted stream are pruned by anybody, those of a living one by nobody', async () => {
    const { storage, streams, alice, bob } = chain()
    await register('alice')
    await mined(storage.assign(streamId, alice.address))
    const stranger = storage.connect(bob)
    expect(await eventsOf(storage, stranger.prune(streamId))).toEqual([])
    expect(await storage.isAssigned(streamId, alice.address)).toBe(true)
    await mined(streams.deleteStream(streamId))
    expect(await eventsOf(storage, stranger.prune(streamId))).toEqual([
      { name: 'StreamUnassigned', args: { streamKey, node: alice.address, streamId } },
    ])
    expect(await storage.streamCountOf(alice.address)).toBe(0n)
  })
})

describe('StorageRegistry refuses', () => {
  it('a stream registry that is no contract', async () => {
    const { owner, alice } = chain()
    for (const streamRegistry of [ZeroAddress, alice.address]) {
      expect(await revertOf(deployContract(compiledStorage, owner, [streamRegistry]))).toMatchObject({
        name: 'StorageRegistry__InvalidStreamRegistry',
        args: { streamRegistry },
      })
    }
  })

  it('a stream that does not exist', async () => {
    const { storage, streams, alice } = chain()
    await register('alice')
    await mined(streams.deleteStream(streamId))
    const expected = { name: 'StorageRegistry__StreamNotFound', args: { streamId } }
    expect(await revertOf(storage.assign(streamId, alice.address))).toMatchObject(expected)
    expect(await revertOf(storage.unassign(streamId, alice.address))).toMatchObject(expected)
  })

  it('whoever has every permission on the stream but edit', async () => {
    const { storage, streams, alice, bob } = chain()
    await register('alice')
    const permissions = {
      canEdit: false,
      canDelete: true,
      canGrant: true,
      publishExpiry: FOREVER,
      subscribeExpiry: FOREVER,
    }
    await mined(streams.setPermissions(streamId, [{ user: bob.address, permissions }]))
    const expected = { name: 'StorageRegistry__NotPermitted', args: { streamKey, user: bob.address } }
    expect(await revertOf(storage.connect(bob).assign(streamId, alice.address))).toMatchObject(expected)
    expect(await revertOf(storage.connect(bob).unassign(streamId, alice.address))).toMatchObject(expected)
  })

  it('a node to assign itself without the edit permission', async () => {
    const { storage, alice } = chain()
    await register('alice')
    expect(await revertOf(storage.connect(alice).assign(streamId, alice.address))).toMatchObject({
      name: 'StorageRegistry__NotPermitted',
      args: { streamKey, user: alice.address },
    })
  })

  it('an assignment twice', async () => {
    const { storage, alice } = chain()
    await register('alice')
    await mined(storage.assign(streamId, alice.address))
    expect(await revertOf(storage.assign(streamId, alice.address))).toMatchObject({
      name: 'StorageRegistry__AlreadyAssigned',
      args: { streamKey, node: alice.address },
    })
  })

  it('to end an assignment that is not, or that ended with its stream', async () => {
    const { storage, alice } = chain()
    await register('alice')
    const expected = { name: 'StorageRegistry__NotAssigned', args: { streamKey, node: alice.address } }
    expect(await revertOf(storage.unassign(streamId, alice.address))).toMatchObject(expected)
    await mined(storage.assign(streamId, alice.address))
    await recreateStream()
    expect(await revertOf(storage.unassign(streamId, alice.address))).toMatchObject(expected)
    expect(await revertOf(storage.connect(alice).unassign(streamId, alice.address))).toMatchObject(expected)
  })

  it('more storage nodes than a stream may have', async () => {
    const { storage, provider, owner } = chain()
    const nodes = Array.from({ length: 17 }, () => Wallet.createRandom(provider))
    for (const node of nodes) {
      await mined(owner.sendTransaction({ to: node.address, value: parseEther('1') }))
      await mined(storage.connect(node).registerNode(url, ''))
    }
    const last = nodes.pop()
    for (const { address } of nodes) await mined(storage.assign(streamId, address))
    expect(await revertOf(storage.assign(streamId, last?.address ?? ''))).toMatchObject({
      name: 'StorageRegistry__TooManyNodes',
      args: { streamKey, maxCount: 16n },
    })
  })
})
