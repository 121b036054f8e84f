import { toNodeId } from '@runnel/protocol'
import { afterEach, expect, it, vi } from 'vitest'
import { silentLogger } from '../logger.ts'
import type { ClusterNetwork } from './libp2p/cluster-network.ts'
import { defaultClusterLimits } from './limits.ts'
import { TrackerPeers } from './tracker-peers.ts'

const [self, other] = [toNodeId(`0x${'1'.repeat(40)}`), toNodeId(`0x${'2'.repeat(40)}`)]

afterEach(() => vi.unstubAllGlobals())

it('a tracker whose URL changes while it is dialled is dialled at the new one', () => {
  const asked: string[] = []
  vi.stubGlobal('fetch', (url: string) => {
    asked.push(url)
    return new Promise(() => {})
  })
  let nowMs = 0
  const peers = new TrackerPeers(defaultClusterLimits, {
    ...{ self, logger: silentLogger, count: () => {}, nodeIdOfPeer: () => undefined, now: () => nowMs },
    network: {} as ClusterNetwork,
  })
  for (const host of ['before', 'after']) {
    peers.update([{ nodeId: other, url: `wss://${host}` }])
    nowMs++
    peers.review()
  }
  expect(asked).toEqual(['https://before/v1/cluster', 'https://after/v1/cluster'])
})
