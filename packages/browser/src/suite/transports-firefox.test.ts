import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { Firefox } from '../firefox.testkit.ts'
import { servePages } from '../page-server.testkit.ts'
import { bundleSuite } from './bundle-suite.testkit.ts'
import { SocketRelay } from './socket-relay.testkit.ts'

const directory = mkdtempSync(join(tmpdir(), 'runnel-suite-'))
await bundleSuite(directory)
const relay = new SocketRelay()
const relayUrl = await relay.start()
const server = await servePages(directory, {
  '/': '<!doctype html><link rel="icon" href="data:,"><script type="module" src="suite.js"></script>',
})
const firefox = await Firefox.launch()
await firefox.open(`${server.url}?relay=${relayUrl}`)
const names = (await firefox.evaluate('suite.testNames()')) as string[]

afterAll(async () => {
  await firefox.close()
  await Promise.all([server.close(), relay.stop()])
  rmSync(directory, { recursive: true })
})

it.each(names)('%s', async (name) => {
  expect(await firefox.evaluate(`suite.runTest(${JSON.stringify(name)})`)).toBeUndefined()
})
