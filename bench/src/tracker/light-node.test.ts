import { afterEach, expect, it } from 'vitest'
import { createIdentity, generatePrivateKey, loadCrypto, toStreamId, toStreamPartId } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { WebSocketTransport } from '@runnel/transport'
import { LightNode } from './light-node.ts'

const crypto = await loadCrypto()
const part = toStreamPartId(toStreamId(`0x${'a'.repeat(40)}/bench`), 0)
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

/** It takes two packets, a node's contact and its first status, and closes instead of answering. */
async function trackerThatCloses() {
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const transport = new WebSocketTransport(
    { role: 'tracker', listen: { host: '127.0.0.1', port: 0 } },
    { identity, crypto, clock: systemClock, random: systemRandom },
  )
  transport.onInbound = (connection) => {
    let packets = 0
    const onPacket = () => void (++packets === 2 && connection.close('TOO_MANY_NODES', 'there are too many'))
    connection.events = { onPacket, onDrain: () => {}, onClose: () => {} }
  }
  stops.push(() => transport.stop())
  await transport.start()
  return { nodeId: identity.nodeId, url: transport.url }
}

it('ends the joins of a node whose connection is closed', async () => {
  const node = new LightNode(crypto)
  stops.push(() => node.stop())
  await node.connect(await trackerThatCloses())
  const [first, again] = [node.join(part), node.join(part)]
  await expect(first).rejects.toMatchObject({ code: 'INCOMPLETE' })
  await expect(again).rejects.toMatchObject({ code: 'INCOMPLETE' })
  await expect(node.join(part)).rejects.toMatchObject({ code: 'INCOMPLETE' })
})

it('ends the joins of a node that is stopped', async () => {
  const node = new LightNode(crypto)
  await node.connect(await trackerThatCloses())
  const joining = node.join(part)
  await node.stop()
  await expect(joining).rejects.toMatchObject({ code: 'INCOMPLETE' })
})
