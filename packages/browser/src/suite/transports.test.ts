import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { launchChromium } from '../chromium.testkit.ts'
import { servePages } from '../page-server.testkit.ts'
import { bundleSuite } from './bundle-suite.testkit.ts'
import type { suite as pageSuite } from './page-suite.testkit.ts'
import { SocketRelay } from './socket-relay.testkit.ts'

declare const suite: typeof pageSuite

const directory = mkdtempSync(join(tmpdir(), 'runnel-suite-'))
await bundleSuite(directory)
const relay = new SocketRelay()
const relayUrl = await relay.start()
const server = await servePages(directory, { '/': '<!doctype html><link rel="icon" href="data:,">' })
const browser = await launchChromium()
const page = await browser.newPage()
await page.goto(`${server.url}?relay=${relayUrl}`)
await page.addScriptTag({ url: 'suite.js', type: 'module' })
const names = await page.evaluate(() => suite.testNames())

afterAll(async () => {
  await browser.close()
  await Promise.all([server.close(), relay.stop()])
  rmSync(directory, { recursive: true })
})

it.each(names)('%s', async (name) => {
  expect(await page.evaluate((name) => suite.runTest(name), name)).toBeUndefined()
})
