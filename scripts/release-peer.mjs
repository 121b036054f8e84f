/**
 * A tracker or a node of one release, as a process that `scripts/releases.test.ts` runs beside those of others. It prints a line of
 * JSON for what happens and takes commands, one a line. `release.mjs` keeps a copy with each release.
 */
import { createInterface } from 'node:readline'
import { createNetworkNode } from '@runnel/network'
import {
  buildBatch,
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  parseStreamPartId,
} from '@runnel/protocol'
import { systemClock as clock, systemRandom as random } from '@runnel/protocol/system'
import { createTracker } from '@runnel/tracker'

const options = JSON.parse(process.argv[2] ?? '{}')
const crypto = await loadCrypto()
const privateKey =
  options.privateKey === undefined ? generatePrivateKey(random) : Buffer.from(options.privateKey, 'hex')
const identity = createIdentity(privateKey, crypto)
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
const commands = createInterface({ input: process.stdin })

if (options.role === 'tracker') await runTracker(options)
else await runNode(options)

async function runTracker({ port = 0 }) {
  const tracker = createTracker({ listen: { host: '127.0.0.1', port } }, { identity, crypto, clock, random })
  await tracker.start()
  say({ type: 'ready', nodeId: tracker.nodeId, url: tracker.url })
  commands.on('close', () => tracker.stop())
}

async function runNode({ tracker, streamPartId, neighbours }) {
  const node = createNetworkNode(
    { transports: { websocket: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false } },
    {
      ...{ identity, crypto, clock, random },
      publisherPolicy: { check: () => 'allowed', resolve: async () => {} },
      trackers: { trackersFor: () => [tracker], onChange: () => () => {} },
    },
  )
  node.on('message', ({ message, from }) => {
    if (from !== undefined) say({ type: 'message', text: new TextDecoder().decode(message.content) })
  })
  await node.start()
  node.join(streamPartId)
  await node.waitForNeighbours(streamPartId, { count: neighbours })
  say({ type: 'ready', nodeId: node.nodeId })
  commands.on('close', () => node.stop())
  let previous
  commands.on('line', (content) => {
    const timestamp = Math.max(clock.now(), (previous?.timestamp ?? 0) + 1)
    const place = { timestamp, sequenceNumber: 0 }
    const message = {
      ...{ ...place, previous, contentType: 2, encryptionType: 0, groupKeyId: '' },
      content: new TextEncoder().encode(content),
    }
    previous = place
    const { streamId, partition } = parseStreamPartId(streamPartId)
    const chain = { streamId, partition, publisherId: identity.nodeId, messageChainId: 'peer' }
    node.publish(buildBatch({ chain, messages: [message] }, crypto, identity))
  })
}
