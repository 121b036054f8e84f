import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@runnel/client'
import { afterAll, expect, it } from 'vitest'
import { bundleForPages } from './bundle.ts'
import { Firefox } from './firefox.testkit.ts'
import { networkOf, startTracker } from './network.testkit.ts'
import { servePages } from './page-server.testkit.ts'

const streamId = `0x${'f'.repeat(40)}/firefox`

const directory = mkdtempSync(join(tmpdir(), 'runnel-firefox-test-'))
await bundleForPages(directory)
const server = await servePages(directory, {
  '/': `<!doctype html><link rel="icon" href="data:,"><script type="module">
import { createClient } from './runnel.js'
globalThis.enter = async (config, streamId) => {
  const client = await createClient(config)
  const contents = []
  globalThis.heard = new Promise((resolve) => {
    globalThis.hear = ({ content }) => contents.push(content) === 2 && resolve(contents.sort())
  })
  await client.subscribe(streamId, {}, hear)
  const [part] = client.network.streamParts
  await client.network.waitForNeighbours(part)
  await client.publish(streamId, 'from Firefox')
  return client.network.metrics().streamParts[0].neighbours.map(({ transport }) => transport)
}
</script>`,
})
const tracker = await startTracker()
const config = { network: networkOf(tracker, streamId) }
const client = await createClient(config)
const firefox = await Firefox.launch()
afterAll(async () => {
  await firefox.close()
  await client.close()
  await Promise.all([tracker.stop(), server.close()])
  rmSync(directory, { recursive: true })
})

it('is a node of the overlay in Firefox: a page and Node hear each other over WebRTC', async () => {
  const contents: unknown[] = []
  const { promise: heard, resolve } = Promise.withResolvers<void>()
  await client.subscribe(streamId, {}, ({ content }) => {
    if (contents.push(content) === 2) resolve()
  })
  await firefox.open(server.url)
  const transports = await firefox.evaluate(`enter(${JSON.stringify(config)}, ${JSON.stringify(streamId)})`)
  expect(transports).toEqual(['webrtc'])
  await client.publish(streamId, 'from Node')
  await heard
  const both = ['from Firefox', 'from Node']
  expect(contents.toSorted()).toEqual(both)
  expect(await firefox.evaluate('heard')).toEqual(both)
}, 60_000)
