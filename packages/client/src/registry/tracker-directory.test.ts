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

it('gives the two responsible trackers, in order, with their URLs', () => {
  const directory = filled()
  expect(idsFor(directory)).toEqual(responsibleTrackers(part, ids, 2))
  expect(directory.trackersFor(part)).toEqual(
    responsibleTrackers(part, ids, 2).map((id) => trackers.find(({ nodeId }) => nodeId === id)),
  )
})

it("prefers the stream's own trackers, in the stream's order, where they are in the registry", () => {
  const directory = filled()
  const [a, b] = [ids[4], ids[0]] as [NodeId, NodeId]
  directory.setOwnTrackers(streamId, [a, toNodeId(`0x${'f'.repeat(40)}`), b])
  expect(idsFor(directory)).toEqual([a, b])
  directory.setOwnTrackers(streamId, [])
  expect(idsFor(directory)).toEqual(responsibleTrackers(part, ids, 2))
})

it('leaves out trackers nothing can connect to, and returns them', () => {
  const directory = new RegistryTrackerDirectory()
  const bad = [
    { nodeId: ids[0] as NodeId, url: 'javascript:alert(1)' },
    { nodeId: ids[1] as NodeId, url: `ws://${'a'.repeat(600)}` },
    { nodeId: ids[2] as NodeId, url: '' },
  ]
  expect(directory.setTrackers([...bad, ...trackers.slice(3, 4)])).toEqual(bad)
  expect(idsFor(directory)).toEqual([ids[3]])
})

it('knows none before it was told any', () => {
  expect(new RegistryTrackerDirectory().trackersFor(part)).toEqual([])
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
  directory.setTrackers([])
  expect(changes).toBe(2)
})
