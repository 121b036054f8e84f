import { generatePrivateKey, toHex } from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { expect, it } from 'vitest'
import { storeCards } from './store-cards.ts'

it('says that storage nodes do not take a card, and goes on', async () => {
  const storageNodes = [{ nodeId: `0x${'5'.repeat(40)}`, url: 'ws://127.0.0.1:1' }]
  const trackers = [{ nodeId: `0x${'7'.repeat(40)}`, url: 'ws://127.0.0.1:1' }]
  const streams = [{ id: `0x${'5'.repeat(40)}/stored`, storageNodes }]
  const left: string[] = []
  const keys = [generatePrivateKey(systemRandom), generatePrivateKey(systemRandom)].map(toHex)
  await storeCards({ kind: 'static', document: { version: 1, trackers, streams } }, keys, (reason) =>
    left.push(reason),
  )
  expect(left).toHaveLength(2)
  expect(left.join()).toContain('None of the storage nodes')
})
