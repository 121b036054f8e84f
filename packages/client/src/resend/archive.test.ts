import type { Gap } from '@runnel/network'
import { decodeBatch, toStreamPartId, type MessageRef } from '@runnel/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { at, chainOf, identityOf, streamId, times } from './batches.testkit.ts'
import { resendLimits } from './limits.ts'
import { says, StorageNet, type FakeStorage } from './storage.testkit.ts'

let net: StorageNet
afterEach(() => net.stop())

const chain = { streamId, partition: 0, publisherId: identityOf('alice').nodeId, messageChainId: 'a' }
const gapOf = (after: MessageRef, upTo: MessageRef): Gap => ({
  streamPartId: toStreamPartId(streamId, 0),
  chain,
  after,
  upTo,
})

async function setUp(names: readonly string[]) {
  net = new StorageNet(names)
  const stores: FakeStorage[] = []
  for (const name of names) stores.push(await net.storage(name))
  const client = await net.client('carol')
  const archive = net.nodeModules?.archive
  if (archive === undefined) throw new Error('The node was given no archive')
  /** What the node would get of a gap. */
  const fill = async (gap: Gap, signal = new AbortController().signal) => {
    const given: number[] = []
    await archive.fill(
      gap,
      (bytes) => given.push(...decodeBatch(bytes).messages.map((m) => m.timestamp)),
      signal,
    )
    return given
  }
  return { client, stores, fill }
}

describe('the archive of a node', () => {
  it('gives what a storage node has of a gap, and asks no other when that is all', async () => {
    const { client, stores, fill } = await setUp(['one', 'two'])
    for (const store of stores)
      store.add(...chainOf(times(1, 50)), ...chainOf(times(1, 50), { chainId: 'b' }))
    expect(await net.turn(fill(gapOf(at(10), at(20))))).toEqual(times(10, 20))
    expect(stores.flatMap(({ asked }) => asked)).toMatchObject([
      { publisherId: chain.publisherId, messageChainId: 'a', selection: { from: at(10), to: at(20) } },
    ])
    expect(client.counters()).toMatchObject({ archiveFills: 1, archiveFilled: 1, archiveRefused: 0 })
  })

  it('asks one after the other while something is missing', async () => {
    const { client, stores, fill } = await setUp(['one', 'two', 'three'])
    const batches = chainOf(times(1, 30))
    stores.forEach((store, i) => store.add(...batches.filter((_, at) => at % 3 === i)))
    const given = await net.turn(fill(gapOf(at(10), at(20))))
    expect(given.toSorted((a, b) => a - b)).toEqual(times(10, 20))
    expect(client.counters()).toMatchObject({ archiveFilled: 1 })
    expect(await net.turn(fill(gapOf(at(100), at(110))))).toEqual([])
    expect(client.counters()).toMatchObject({ archiveFills: 2, archiveFilled: 1 })
  })

  it('passes on nothing that is forged, and gives up nothing else for it', async () => {
    const { stores, fill } = await setUp(['one', 'two'])
    const [bad, good] = stores as [FakeStorage, FakeStorage]
    const wrong = chainOf([15], { publisher: 'mallory' })[0]
    const right = chainOf(times(1, 30))
    if (wrong === undefined) throw new Error('No batch')
    const bytes = (right[14] ?? wrong).bytes.slice()
    bytes.set(wrong.signature, bytes.length - wrong.signature.length)
    bad.script = says(
      { type: 'resendStart', from: at(0), to: at(100), count: 0 },
      { type: 'resendData', batch: decodeBatch(bytes) },
      { type: 'resendEnd', code: '', text: '' },
    )
    good.add(...right)
    expect(await net.turn(fill(gapOf(at(14), at(15))))).toEqual([14, 15])
  })

  it('is not asked in vain again by who may not read', async () => {
    const { stores, fill } = await setUp(['one'])
    const [store] = stores as [FakeStorage]
    store.script = says({ type: 'resendEnd', code: 'NOT_PERMITTED', text: '' })
    for (let i = 0; i < 5; i++) expect(await net.turn(fill(gapOf(at(1), at(5))))).toEqual([])
    expect(store.asked).toHaveLength(1)
  })

  it('fills a few gaps at once, the others in turn, and refuses what is too much', async () => {
    const { client, stores, fill } = await setUp(['one'])
    const [store] = stores as [FakeStorage]
    store.script = () => {}
    const controller = new AbortController()
    const { maxArchiveFills, maxArchiveWaiting } = resendLimits
    const fills = times(1, maxArchiveFills + maxArchiveWaiting + 5).map((time) =>
      fill(gapOf(at(time), at(time + 1)), controller.signal),
    )
    await net.turn(new Promise<void>((resolve) => net.clock.schedule(3_000, resolve)))
    expect(store.asked).toHaveLength(maxArchiveFills)
    expect(client.counters()['archiveRefused']).toBe(5)
    controller.abort()
    await net.turn(Promise.all(fills))
    expect(store.asked).toHaveLength(maxArchiveFills)
    store.script = undefined
    store.add(...chainOf(times(1, 5)))
    expect(await net.turn(fill(gapOf(at(1), at(3))))).toEqual([1, 2, 3])
  })
})
