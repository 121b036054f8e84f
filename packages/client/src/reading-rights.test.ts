import type { JoinOptions, NetworkNode } from '@runnel/network'
import { toNodeId, toStreamId, type StreamId } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { ReadingRights } from './reading-rights.ts'
import type { StreamInfo } from './registry/ports.ts'
import { RegistryReaderPolicy } from './registry/reader-policy.ts'
import { RegistryCache } from './registry/registry-cache.ts'
import { RegistryDelegations } from './registry/registry-delegations.ts'
import { staticNetworkSchema, type StaticNetwork } from './registry/static-network.ts'
import { createStaticRegistries } from './registry/static-registries.ts'
import { StreamParts } from './stream-parts.ts'

const user = toNodeId(`0x${'1'.repeat(40)}`)
const id = toStreamId(`${user}/stream`)
const startMs = Date.UTC(2026, 0, 1)
type StaticStream = StaticNetwork['streams'][number]

/** The parts of one user on a registry that can be changed and can be away, and what its node was told. */
function setUp(stream: Omit<StaticStream, 'id'>, isLight = false) {
  const read = (streams: StaticStream[]) =>
    createStaticRegistries(staticNetworkSchema.parse({ version: 1, trackers: [], streams }))
  let registries = read([{ id, ...stream }])
  let isAway = false
  let asked = 0
  const ask = <T>(question: (of: typeof registries) => Promise<T>): Promise<T> => {
    asked++
    return isAway ? Promise.reject(new Error('away')) : question(registries)
  }
  const clock = new VirtualClock({ startMs })
  const { streams, storage } = registries
  const permissionsOf: typeof streams.permissionsOf = (streamId, of) =>
    ask((now) => now.streams.permissionsOf(streamId, of))
  const storageNodesOf: typeof storage.storageNodesOf = (streamId) =>
    ask((now) => now.storage.storageNodesOf(streamId))
  const cache = new RegistryCache(
    { maxEntries: 100, maxAgeMs: 1e9 },
    { clock, streams: { ...streams, permissionsOf }, storage: { ...storage, storageNodesOf } },
  )
  const delegations = new RegistryDelegations(
    { maxEntries: 100, maxAgeMs: 1e9 },
    { clock, registry: registries.delegations },
  )
  const policy = new RegistryReaderPolicy({ cache, delegations, clock })
  const rights = new ReadingRights(
    { user: { userId: user, delegation: undefined, readsForMs: () => Infinity } },
    { clock, cache, policy },
  )
  policy.onChange((streamId) => rights.lookAgain(streamId))
  const told: unknown[] = []
  const node = {
    join: (_: string, { reads }: JoinOptions) => told.push(reads),
    leave: () => told.push('left'),
  } as unknown as NetworkNode
  const parts = new StreamParts({
    ...{ node, rights, isLight },
    registry: { use: () => {}, release: () => {} },
  })
  return {
    ...{ parts, clock, cache, told, rights },
    asked: () => asked,
    setAway: (away: boolean) => void (isAway = away),
    /** As the registry's events say. */
    change(to: Omit<StaticStream, 'id'>, streamId: StreamId = id) {
      registries = read([{ id, ...to }])
      cache.apply({ kind: 'permissions', streamId, user })
      policy.changed(streamId)
    },
  }
}

const info = { id, partitions: 1, trackers: [], metadata: '{}', createdMs: 0 } as unknown as StreamInfo
const publishing = { fillGaps: false, reads: false }
/** Promises have no clock: all that is due now is done. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('a user who may publish for ever', () => {
  const forEver = { user, publish: true } as const

  it.each(['publishing', 'subscribed and publishing'])(
    'and read until a time is a feeder from then on, %s',
    async (uses) => {
      const { parts, clock, cache, told } = setUp({
        permissions: [{ ...forEver, subscribe: startMs + 60_000 }],
      })
      await cache.permissionsOf(id, user)
      if (uses !== 'publishing') parts.join(info, 0)
      parts.join(info, 0, publishing)
      clock.advanceBy(59_999)
      await settled()
      expect(told).toEqual([true])
      clock.advanceBy(1)
      await settled()
      expect(told).toEqual([true, false])
    },
  )

  it('and read until a time is told then where it reads, and where it begins to read later', async () => {
    const { parts, clock, cache } = setUp({ permissions: [{ ...forEver, subscribe: startMs + 60_000 }] })
    await cache.permissionsOf(id, user)
    const told: string[] = []
    parts.join(info, 0, { onDenied: () => void told.push('first') })
    clock.advanceBy(59_999)
    await settled()
    expect(told).toEqual([])
    clock.advanceBy(1)
    await settled()
    expect(told).toEqual(['first'])
    parts.join(info, 1, { onDenied: () => void told.push('second') })
    expect(told).toEqual(['first', 'second'])
  })

  it('is a feeder when its permission to read is revoked, also while it is subscribed', async () => {
    const { parts, cache, told, change } = setUp({ permissions: [{ ...forEver, subscribe: true }] })
    await cache.permissionsOf(id, user)
    parts.join(info, 0)
    parts.join(info, 0, publishing)
    change({ permissions: [forEver] })
    await settled()
    expect(told).toEqual([true, false])
    change({ permissions: [{ ...forEver, subscribe: true }] })
    await settled()
    expect(told).toEqual([true, false, true])
  })

  it('and reads too is a feeder of its hosts, where it is light and has no reader', async () => {
    const { parts, cache, told } = setUp({ permissions: [{ ...forEver, subscribe: true }] }, true)
    await cache.permissionsOf(id, user)
    parts.join(info, 0, publishing)
    const unsubscribe = parts.join(info, 0)
    unsubscribe()
    expect(told).toEqual([false, true, false])
  })

  it('reads where it is to store the stream', async () => {
    const { parts, cache, told, change } = setUp({ permissions: [forEver] })
    await cache.permissionsOf(id, user)
    parts.join(info, 0, publishing)
    const storageNodes = [{ nodeId: user, url: 'ws://127.0.0.1:1' }]
    change({ permissions: [forEver], storageNodes })
    await settled()
    expect(told).toEqual([false, true])
  })
})

it('asks again when the registry gave no answer', async () => {
  const { parts, clock, cache, told, change, setAway } = setUp({
    permissions: [{ user, publish: true, subscribe: true }],
  })
  await cache.permissionsOf(id, user)
  parts.join(info, 0)
  setAway(true)
  change({ permissions: [{ user, publish: true }] })
  await settled()
  clock.advanceBy(5_000)
  await settled()
  expect(told).toEqual([true])
  setAway(false)
  clock.advanceBy(5_000)
  await settled()
  expect(told).toEqual([true, false])
})

it('asks no more when the stream is left, or all is closed', async () => {
  const { parts, clock, cache, told, asked, rights } = setUp({
    permissions: [{ user, publish: true, subscribe: startMs + 1_000 }],
  })
  await cache.permissionsOf(id, user)
  parts.join(info, 0)()
  const before = asked()
  clock.advanceBy(2_000)
  await settled()
  expect([told, asked()]).toEqual([[true, 'left'], before])
  parts.join(info, 0)
  rights.close()
  rights.lookAgain()
  clock.advanceBy(60_000)
  await settled()
  expect(asked()).toBe(before)
})
