import { expect, it } from 'vitest'
import { roomOf } from './room-of.ts'
import { summaryOfCpu, summaryOfHeap } from './profile-summary.ts'

const frame = (functionName: string, url = '', lineNumber = 0) => ({ functionName, url, lineNumber })
const flood = frame('receive', 'file:///x/packages/network/src/core/flood/flood.ts', 41)

it.each([
  [flood, 'network core/flood'],
  [frame('f', 'file:///x/packages/client/dist/client.js'), 'client'],
  [frame('f', 'file:///x/node_modules/ws/lib/sender.js'), 'npm ws'],
  [frame('f', 'file:///x/node_modules/a/node_modules/@noble/hashes/sha3.js'), 'npm @noble/hashes'],
  [frame('f', 'node:internal/streams/readable'), 'Node'],
  [frame('f', 'node:internal/modules/esm/loader'), 'Node, loading modules'],
  [frame('f', 'file:///x/bench/src/swarm.ts'), 'bench'],
  [frame('(garbage collector)'), 'V8 garbage collector'],
  [frame('(program)'), 'V8 and native code'],
  [frame('slice'), 'V8 built in'],
])('says where %o belongs', (of, room) => {
  expect(roomOf(of)).toBe(room)
})

it('adds up the time of each room and function without what is idle', () => {
  const nodes = [
    { id: 1, callFrame: flood },
    { id: 2, callFrame: frame('(idle)') },
    { id: 3, callFrame: frame('', 'node:net', 9) },
  ]
  const profile = { nodes, samples: [1, 2, 1, 3], timeDeltas: [1_000, 9_000, 2_000, 1_000] }
  expect(summaryOfCpu([profile, { nodes, samples: [3], timeDeltas: [4_000] }])).toEqual({
    sum: 8,
    roomsPercent: { Node: 62.5, 'network core/flood': 37.5 },
    functionsPercent: { '(anonymous) node:net:10': 62.5, 'receive flood.ts:42': 37.5 },
  })
})

it('adds up what was held, all the way down', () => {
  const leaf = { callFrame: flood, selfSize: 3 * 2 ** 20, children: [] }
  const head = { callFrame: frame('(root)'), selfSize: 0, children: [{ ...leaf, children: [leaf] }] }
  expect(summaryOfHeap([{ head }])).toMatchObject({ sum: 6, roomsPercent: { 'network core/flood': 100 } })
})
