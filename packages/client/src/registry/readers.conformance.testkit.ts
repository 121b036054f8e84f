import { toNodeId, toStreamId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import type { Registries } from './ports.ts'
import type { StaticNetwork } from './static-network.ts'

/** Well-known accounts of anvil, so that a chain can have the same streams as the document. */
const owner = toNodeId('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266')
const alice = toNodeId('0x70997970c51812dc3a010c7d01b50e0d17dc79c8')
const nobody = toNodeId('0x00000000000000000000000000000000000000ff')
const tracker1 = toNodeId('0x00000000000000000000000000000000000000a1')
const tracker2 = toNodeId('0x00000000000000000000000000000000000000a2')
/** Accounts of anvil too, as a storage node registers itself. */
const storage1 = toNodeId('0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc')
const storage2 = alice
const plain = toStreamId(`${owner}/plain`)
const open = toStreamId(`${owner}/weather/open`)
const missing = toStreamId(`${owner}/missing`)
const until = Date.UTC(2090, 0, 1)
const all = { edit: true, delete: true, grant: true, publishUntilMs: Infinity, subscribeUntilMs: Infinity }

/** What every implementation is made to hold before the suite runs. */
export const conformanceNetwork = {
  version: 1,
  trackers: [
    { nodeId: tracker2, url: 'wss://two.example' },
    { nodeId: tracker1, url: 'ws://one.example:30300' },
  ],
  streams: [
    {
      id: open,
      partitions: 3,
      metadata: '{"unit":"K"}',
      trackers: [tracker2, tracker1],
      storageNodes: [
        { nodeId: storage2, url: 'wss://keep.example' },
        { nodeId: storage1, url: 'ws://store.example:7170' },
      ],
      permissions: [
        { user: owner, edit: true, delete: true, grant: true, publish: true, subscribe: true },
        { user: 'public', subscribe: true },
        { user: alice, publish: until, subscribe: until },
      ],
    },
    {
      id: plain,
      permissions: [{ user: owner, edit: true, delete: true, grant: true, publish: true, subscribe: true }],
    },
  ],
} satisfies StaticNetwork

/** The suite every way to read the registries passes. `createdMs` matches when their streams were created. */
export function describeRegistryReaders(
  name: string,
  registries: () => Registries,
  createdMs: () => unknown,
): void {
  describe(`registry readers: ${name}`, () => {
    it('reads a stream as it was created', async () => {
      expect(await registries().streams.getStream(open)).toEqual({
        id: open,
        partitions: 3,
        metadata: '{"unit":"K"}',
        trackers: [tracker2, tracker1],
        createdMs: createdMs(),
      })
    })

    it('reads a stream that says only its id', async () => {
      expect(await registries().streams.getStream(plain)).toEqual({
        id: plain,
        partitions: 1,
        metadata: '{}',
        trackers: [],
        createdMs: createdMs(),
      })
    })

    it('knows no stream that is not there', async () => {
      expect(await registries().streams.getStream(missing)).toBeUndefined()
    })

    it('lists the streams, ordered by id', async () => {
      const streams = await registries().streams.listStreams()
      expect(streams.map(({ id }) => id)).toEqual([plain, open])
    })

    it('lists the streams of one owner', async () => {
      expect(await registries().streams.listStreams({ owner })).toHaveLength(2)
      expect(await registries().streams.listStreams({ owner: alice })).toEqual([])
    })

    it('gives an owner every permission', async () => {
      expect(await registries().streams.permissionsOf(open, owner)).toEqual(all)
    })

    it('adds what is public to what a user was given, whichever lasts longer', async () => {
      expect(await registries().streams.permissionsOf(open, alice)).toEqual({
        edit: false,
        delete: false,
        grant: false,
        publishUntilMs: until,
        subscribeUntilMs: Infinity,
      })
    })

    it('gives a stranger what is public, and nothing on a stream that is not there', async () => {
      expect(await registries().streams.permissionsOf(open, nobody)).toMatchObject({
        publishUntilMs: 0,
        subscribeUntilMs: Infinity,
      })
      expect(await registries().streams.permissionsOf(missing, owner)).toMatchObject({
        edit: false,
        publishUntilMs: 0,
      })
    })

    it('lists who was given what, everybody first', async () => {
      expect((await registries().streams.permissionTable(open)).entries).toEqual([
        {
          user: 'public',
          edit: false,
          delete: false,
          grant: false,
          publishUntilMs: 0,
          subscribeUntilMs: Infinity,
        },
        {
          user: alice,
          edit: false,
          delete: false,
          grant: false,
          publishUntilMs: until,
          subscribeUntilMs: until,
        },
        { user: owner, ...all },
      ])
      expect(await registries().streams.permissionTable(missing)).toMatchObject({ entries: [], lossBlock: 0 })
    })

    it('lists the trackers, ordered by id', async () => {
      expect(await registries().trackers.listNodes()).toBeUndefined()
      expect(await registries().trackers.listTrackers()).toEqual([
        { nodeId: tracker1, url: 'ws://one.example:30300' },
        { nodeId: tracker2, url: 'wss://two.example' },
      ])
    })

    it('finds the storage nodes of a stream, ordered by id', async () => {
      expect(await registries().storage.storageNodesOf(open)).toEqual([
        { nodeId: storage1, url: 'ws://store.example:7170' },
        { nodeId: storage2, url: 'wss://keep.example' },
      ])
      expect(await registries().storage.storageNodesOf(plain)).toEqual([])
      expect(await registries().storage.storageNodesOf(missing)).toEqual([])
    })

    it('lists the storage nodes, and what each is to keep', async () => {
      const { storage } = registries()
      expect((await storage.listStorageNodes()).map(({ nodeId }) => nodeId)).toEqual([storage1, storage2])
      expect(await storage.streamsStoredBy(storage1)).toEqual([open])
      expect(await storage.streamsStoredBy(nobody)).toEqual([])
    })
  })
}
