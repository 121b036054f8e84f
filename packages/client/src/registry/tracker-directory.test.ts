import { responsibleTrackers, toNodeId, toStreamId, toStreamPartId, type NodeId } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { RegistryTrackerDirectory } from './tracker-directory.ts'

const ids = Array.from({ length: 6 }, (_, i) => toNodeId(`0x${String(i).repeat(40)}`))
const trackers = ids.map((nodeId, i) => ({ nodeId, url: `ws://tracker-${i}.example` }))
const streamId = toStreamId(`${ids[1]}/a`)
const part = toStreamPartId(streamId, 3)

function filled(): RegistryTrackerDirectory {
  const directory = new RegistryTrackerDirectory()
  directory.setTrackers(trackers)
  return directory
}
const idsFor = (directory: RegistryTrackerDirectory): NodeId[] =>
  directory.trackersFor(part).map(({ nodeId }) => nodeId)

it('gives the trackers in the order in which they are responsible, with their URLs', () => {
  const directory = filled()
  expect(idsFor(directory)).toEqual(responsibleTrackers(part, ids, 6))
  expect(directory.trackersFor(part)).toEqual(
    responsibleTrackers(part, ids, 6).map((id) => trackers.find(({ nodeId }) => nodeId === id)),
  )
})

it("prefers the stream's own trackers, in the stream's order, where they are in the registry", () => {
  const directory = filled()
  const [a, b] = [ids[4], ids[0]] as [NodeId, NodeId]
  directory.setOwnTrackers(streamId, [a, toNodeId(`0x${'f'.repeat(40)}`), b])
  expect(idsFor(directory)).toEqual([a, b])
  directory.setOwnTrackers(streamId, [])
  expect(idsFor(directory)).toEqual(responsibleTrackers(part, ids, 6))
  directory.setOwnTrackers(streamId, [a])
  expect(idsFor(directory)).toEqual([a])
  directory.forget(streamId)
  expect(idsFor(directory)).toEqual(responsibleTrackers(part, ids, 6))
})

it('leaves out trackers nothing can connect to, and returns them', () => {
  const directory = new RegistryTrackerDirectory()
  const bad = [
    { nodeId: ids[0] as NodeId, url: 'javascript:alert(1)' },
    { nodeId: ids[1] as NodeId, url: `ws://${'a'.repeat(600)}` },
    { nodeId: ids[2] as NodeId, url: '' },
  ]
  const listing = directory.setTrackers([...bad, ...trackers.slice(3, 4)])
  expect(listing).toEqual({ isEmpty: false, kept: 0, unusable: bad })
  expect(idsFor(directory)).toEqual([ids[3]])
})

it('knows none before it was told any', () => {
  expect(new RegistryTrackerDirectory().trackersFor(part)).toEqual([])
})

it('keeps what it knows when the registry lists none that can be used', () => {
  const directory = filled()
  expect(directory.setTrackers([])).toEqual({ isEmpty: true, kept: 6, unusable: [] })
  const [wrong] = trackers.map((tracker) => ({ ...tracker, url: 'http://tracker.example' }))
  expect(directory.setTrackers(wrong ? [wrong] : [])).toEqual({ isEmpty: true, kept: 6, unusable: [wrong] })
  expect(idsFor(directory)).toEqual(responsibleTrackers(part, ids, 6))
})

it('gives no more than a node should try, the first ones', () => {
  const many = Array.from({ length: 200 }, (_, i) => toNodeId(`0x${i.toString(16).padStart(40, '0')}`))
  const directory = new RegistryTrackerDirectory()
  directory.setTrackers(many.map((nodeId) => ({ nodeId, url: 'ws://tracker.example' })))
  expect(idsFor(directory)).toEqual(responsibleTrackers(part, many, 8))
})

it('remembers the order of a bounded number of stream parts, and forgets it when a tracker moves', () => {
  const directory = filled()
  for (let i = 0; i < 10_001; i++) {
    const streamPart = toStreamPartId(toStreamId(`${ids[1]}/${i}`), 0)
    expect(directory.trackersFor(streamPart)).toBe(directory.trackersFor(streamPart))
  }
  const before = directory.trackersFor(part)
  directory.setTrackers(trackers.map((tracker) => ({ ...tracker, url: 'ws://elsewhere.example' })))
  expect(before.map(({ url }) => url)).not.toContain('ws://elsewhere.example')
  expect(new Set(directory.trackersFor(part).map(({ url }) => url))).toEqual(
    new Set(['ws://elsewhere.example']),
  )
})

it('tells its listeners when something changed, and only then', () => {
  const directory = filled()
  let changes = 0
  const stop = directory.onChange(() => changes++)
  directory.setTrackers([...trackers])
  directory.setOwnTrackers(streamId, [])
  expect(changes).toBe(0)
  directory.setTrackers(trackers.slice(1))
  directory.setOwnTrackers(streamId, ids.slice(2, 3))
  expect(changes).toBe(2)
  stop()
  directory.setTrackers(trackers.slice(2))
  expect(changes).toBe(2)
})
