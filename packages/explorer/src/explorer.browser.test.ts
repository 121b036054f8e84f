import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium } from '../../browser/src/chromium.testkit.ts'
import { nodeId as simulatedId, partA } from '../../tracker/src/core/tracker-core.testkit.ts'
import { startDemoWorld, type DemoWorld } from './demo-world.testkit.ts'
import {
  buildPage,
  countedId,
  firstName,
  noticesId,
  partId,
  SmallNetwork,
  streamId,
} from './explorer.testkit.ts'

let browser: Browser
let built: Awaited<ReturnType<typeof buildPage>>
let network: SmallNetwork
let demo: DemoWorld
const pages: Page[] = []
/** What went wrong in pages, or what their policy forbade. */
const errors: string[] = []

beforeAll(async () => {
  ;[browser, built] = await Promise.all([launchChromium(), buildPage()])
  network = await SmallNetwork.start(built.directory, 5)
  for (const client of network.clients) await client.subscribe(streamId, {}, () => {})
  demo = await startDemoWorld({ nodes: 120, directory: built.directory, ageMs: 20_000 })
})
afterEach(async () => {
  for (const page of pages.splice(0)) await page.close()
  expect(errors.splice(0)).toEqual([])
})
afterAll(async () => {
  await browser.close()
  await demo.stop()
  await network.stop()
  built.remove()
})

interface Opened {
  readonly width?: number
  readonly height?: number
  readonly colorScheme?: 'light' | 'dark'
}

async function open(
  base: string,
  hash = '',
  { width = 1_280, height = 800, colorScheme = 'light' }: Opened = {},
) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme })
  pages.push(page)
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) errors.push(message.text())
  })
  await page.goto(`${base}/explorer/${hash}`)
  return page
}

const partHash = (id: string, show = 'graph') => `#/part/${encodeURIComponent(id)}?show=${show}`

const fitted = [
  ['#/streams', 'Streams'],
  ['#/nodes', 'Nodes'],
  ['#/trackers', 'Trackers'],
  [partHash(partA), 'a'],
  [partHash(partA, 'map'), 'a'],
  [partHash(partA, 'table'), 'a'],
  [partHash(partA, 'live'), 'a'],
] as const

/** What keeps somebody from using a page, by the rules of WCAG 2.2 AA that a program can check; contrasts are among them. */
async function inaccessible(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    }),
  )
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

/** Waits until the picture rests and is not empty. */
async function picture(page: Page): Promise<void> {
  await page.locator('.graph[data-resting=true] canvas').waitFor()
  await page.waitForFunction(() => {
    const canvas = document.querySelector('canvas')
    const pixels = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data
    return pixels?.some((value) => value !== 0)
  })
}

describe('the explorer', () => {
  it('tells in how many stream parts a node is, where it lists only some', async () => {
    const streamParts = Array.from({ length: 16 }, (_, n) => `${streamId}#${n}`)
    const nodeId = simulatedId(7)
    const json = { total: 1, nodes: [{ nodeId, connected: true, streamPartCount: 40, streamParts }] }
    const page = await open(network.tracker.httpUrl)
    await page.route('**/v1/nodes?*', (route) => route.fulfill({ json }))
    await page.goto(`${network.tracker.httpUrl}/explorer/#/node/${nodeId}`)
    await page.getByText(/^In 40 stream parts;/).waitFor()
    await page.getByText('16 of 40 are shown.').waitFor()
  })

  it('shows what was searched for, also after going back', async () => {
    const page = await open(network.tracker.httpUrl)
    const search = page.getByRole('searchbox')
    for (const text of ['lob', 'count']) {
      await search.fill(text)
      await search.press('Enter')
      await page.getByRole('heading', { level: 1, name: `Streams with “${text}”` }).waitFor()
    }
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Streams with “lob”' }).waitFor()
    await page.waitForFunction(() => document.querySelector('input')?.value === 'lob')
  })

  it('leads from the list of streams to an overlay and its nodes', async () => {
    const page = await open(network.tracker.httpUrl)
    await page.getByRole('link', { name: 'lobby' }).click()
    await picture(page)
    await page.getByText('1 tracker', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Table' }).click()
    const table = page.getByRole('region', { name: 'Nodes of the overlay' })
    for (const { nodeId } of network.clients) await table.locator(`th [title="${nodeId}"]`).waitFor()
    const edges = page.getByRole('region', { name: /Edges of the overlay/ })
    await edges.getByText('WebSocket').nth(9).waitFor()
  })

  it('says what nodes are, by their own words', async () => {
    const page = await open(network.tracker.httpUrl, '#/nodes')
    const rowOf = (nodeId = '') =>
      page
        .getByRole('region', { name: 'Nodes' })
        .locator('tr')
        .filter({ has: page.locator(`[title="${nodeId}"]`) })
    const [first, second] = network.clients
    const cells = (nodeId?: string) => rowOf(nodeId).locator('td').allTextContents()
    await rowOf(first?.nodeId).getByText(firstName).waitFor()
    const version = expect.stringMatching(/^\d+\.\d+\.\d+/)
    expect((await cells(first?.nodeId)).slice(0, 3)).toEqual([firstName, 'node', version])
    expect((await cells(second?.nodeId)).slice(0, 3)).toEqual(['–', 'program', version])
    await rowOf(first?.nodeId).getByRole('link').click()
    await page.locator('.facts-list').getByText(firstName).waitFor()
  })

  it('finds streams and nodes', async () => {
    const page = await open(network.tracker.httpUrl)
    const search = page.getByRole('searchbox')
    await search.fill('no such stream')
    await search.press('Enter')
    await page.getByText('No active stream has this in its id.').waitFor()
    const nodeId = network.clients[0]?.nodeId ?? ''
    await search.fill(nodeId)
    await search.press('Enter')
    await page.getByText(nodeId, { exact: true }).waitFor()
    await page.getByRole('link', { name: 'lobby' }).waitFor()
    await search.fill(nodeId.slice(0, 10))
    await search.press('Enter')
    await page.getByRole('region', { name: 'Nodes' }).locator(`[title="${nodeId}"]`).waitFor()
  })

  it('takes part in an overlay: gets what nodes publish, and they get what it publishes', async () => {
    const [publisher] = network.clients
    const received = Promise.withResolvers<unknown>()
    await publisher?.subscribe(streamId, {}, ({ content }) => {
      if (content === 'from the page') received.resolve(content)
    })
    const page = await open(network.tracker.httpUrl, partHash(partId, 'live'))
    await page.getByRole('button', { name: 'Join and listen' }).click()
    await page.getByText(/^[1-4] neighbours?, 0 messages received /).waitFor()
    expect(await page.evaluate(() => document.activeElement?.className)).toBe('live')
    await page.getByRole('status').getByText('Joined', { exact: true }).waitFor({ state: 'attached' })
    const evil = '<img src=x onerror="document.title=1"> \u202e'
    await publisher?.publish(streamId, evil)
    await page.locator('.messages p').getByText('<img src=x onerror="document.title=1"> \ufffd').waitFor()
    await page.getByLabel('Message', { exact: true }).fill('from the page')
    await page.getByRole('button', { name: 'Publish text' }).click()
    expect(await received.promise).toBe('from the page')
    await page.getByText('Measured here, median').waitFor()
    await page.getByRole('link', { name: 'Graph' }).click()
    await page.locator('.legend').getByText('this page').waitFor()
  })

  it('says how many messages come, stands still, and shows those that one looks for', async () => {
    const [publisher] = network.clients
    await publisher?.subscribe(countedId, {}, () => {})
    const page = await open(network.tracker.httpUrl, partHash(`${countedId}#0`, 'live'))
    await page.getByRole('button', { name: 'Join and listen' }).click()
    await page.getByText(/^[1-4] neighbours?, 0 messages received · 0\.0 messages\/s$/).waitFor()
    for (const text of ['apples', 'pears']) await publisher?.publish(countedId, text)
    await page.getByText(/2 messages received · 0\.2 messages\/s/).waitFor()
    const shown = page.locator('.messages p')
    await page.getByRole('searchbox', { name: 'Show only messages' }).fill('PEAR')
    await expect.poll(() => shown.allTextContents()).toEqual(['pears'])
    await page.getByRole('button', { name: 'Pause' }).click()
    await publisher?.publish(countedId, 'more pears')
    await page.getByText(/3 messages received .* paused/).waitFor()
    expect(await shown.allTextContents()).toEqual(['pears'])
    await page.getByRole('button', { name: 'Continue' }).click()
    await expect.poll(() => shown.allTextContents()).toEqual(['more pears', 'pears'])
  })

  it('offers to publish to those only who may', async () => {
    await network.clients[0]?.subscribe(noticesId, {}, () => {})
    const page = await open(network.tracker.httpUrl, partHash(`${noticesId}#0`, 'live'))
    await page.getByRole('button', { name: 'Join and listen' }).click()
    await page.getByText('may read this stream, but not publish to it').waitFor()
    expect(await page.getByLabel('Message', { exact: true }).count()).toBe(0)
  })

  it('copies ids', async () => {
    const page = await open(network.tracker.httpUrl, partHash(partId))
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: "Copy the stream's id" }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(streamId)
    const nodeId = network.clients[0]?.nodeId ?? ''
    await page.goto(`${network.tracker.httpUrl}/explorer/#/node/${nodeId}`)
    await page.getByRole('button', { name: "Copy the node's id" }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(nodeId)
  })

  it('fills the canvas with a few nodes, and offers no map of nowhere', async () => {
    const page = await open(network.tracker.httpUrl, partHash(partId, 'map'))
    await picture(page)
    expect(await page.locator('.tabs a').allTextContents()).toEqual(['Graph', 'Table', 'Live'])
    const filled = await page.evaluate(() => {
      const canvas = document.querySelector('canvas')
      if (canvas === null) return 0
      const { width, height } = canvas
      const pixels = canvas.getContext('2d')?.getImageData(0, 0, width, height).data ?? []
      const extent = (length: number, isUsed: (at: number) => boolean): number => {
        const used = Array.from({ length }, (_, at) => at).filter(isUsed)
        return ((used.at(-1) ?? 0) - (used[0] ?? 0)) / length
      }
      const isPainted = (x: number, y: number): boolean => pixels[4 * (y * width + x) + 3] !== 0
      const columns = Array.from({ length: width }, (_, x) => x)
      const rows = Array.from({ length: height }, (_, y) => y)
      // Lengths follow round-trip times: a picture may be flat, and is then as wide as there is room.
      return Math.max(
        extent(height, (y) => columns.some((x) => isPainted(x, y))),
        extent(width, (x) => rows.some((y) => isPainted(x, y))),
      )
    })
    expect(filled).toBeGreaterThan(0.6)
  })

  it('is used with a keyboard', async () => {
    const page = await open(network.tracker.httpUrl, partHash(partId))
    await picture(page)
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')
    await page.locator('canvas').focus()
    await page.keyboard.press('ArrowRight')
    await page
      .locator('[aria-live]')
      .getByText(/^Node 0x.*, 4 neighbours: /)
      .waitFor({ state: 'attached' })
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Node' }).waitFor()
  })

  it('draws many nodes on a map and in a graph, and follows who leaves', async () => {
    const page = await open(demo.url, partHash(partA, 'map'))
    await page.getByRole('img', { name: 'Map: 120 nodes at 16 places, 1 tracker' }).waitFor()
    await page.getByRole('link', { name: 'Graph' }).click()
    await picture(page)
    await page.getByRole('button', { name: 'Transport' }).click()
    for (const name of ['WebSocket', 'WebRTC', 'WebRTC over TURN'])
      await page.locator('.legend').getByText(name, { exact: true }).waitFor()
    demo.churn()
    await page.getByText('119 nodes').waitFor()
    await picture(page)
  })

  it.each([
    ['a phone, in the dark,', { width: 390, height: 844, colorScheme: 'dark' }],
    ['a desk', { width: 1_280, height: 800, colorScheme: 'light' }],
  ] as const)('fits %s and can be used by all', async (_, screen) => {
    const page = await open(demo.url, '', screen)
    for (const [hash, heading] of fitted) {
      await page.goto(`${demo.url}/explorer/${hash}`)
      await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
      const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect([hash, tooWide]).toEqual([hash, 0])
      expect(await inaccessible(page)).toEqual([])
    }
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe(screen.colorScheme)
  })

  it('lets one choose the colours, and remembers', async () => {
    const page = await open(demo.url)
    const theme = () => page.evaluate(() => document.documentElement.dataset['theme'])
    await page.getByRole('button', { name: /^Colours: like the system/ }).click()
    await page.getByRole('button', { name: /^Colours: light/ }).click()
    await page.getByRole('button', { name: /^Colours: dark/ }).waitFor()
    expect(await theme()).toBe('dark')
    await page.reload()
    await page.getByRole('button', { name: /^Colours: dark/ }).waitFor()
    expect(await theme()).toBe('dark')
  })
})

describe('the explorer in trouble', () => {
  it('says so when the tracker stops, and goes on when it is there again', async () => {
    const page = await open(demo.url)
    await page.getByRole('link', { name: 'a', exact: true }).or(page.locator('.part')).first().waitFor()
    const isTracker = (url: URL) => url.pathname.startsWith('/v1/') || url.pathname === '/health'
    await page.route(isTracker, (route) => route.abort())
    await page
      .getByText(/does not answer\. It may have stopped/)
      .first()
      .waitFor()
    await page.getByText('No answer').waitFor()
    // An age that grows would be announced again and again.
    expect(await page.getByRole('alert').first().textContent()).toMatch(/The page keeps trying\.$/)
    await page.unroute(isTracker)
    await page.getByText('1 tracker', { exact: true }).waitFor()
  })

  it('says so when the device is offline', async () => {
    const page = await open(demo.url)
    await page.getByText('1 tracker', { exact: true }).waitFor()
    await page.context().setOffline(true)
    await page
      .getByText(/This device is offline/)
      .first()
      .waitFor()
    await page.context().setOffline(false)
    await page.getByText('1 tracker', { exact: true }).waitFor()
  })

  it.each([
    ['nonsense', '{"nodeId":"<b>"}'],
    ['no JSON', '<html>'],
  ])('says so when something else answers: %s', async (_, body) => {
    const page = await open(demo.url)
    await page.route('**/health', (route) => route.fulfill({ body, contentType: 'application/json' }))
    await page.reload()
    await page.getByText(/is not a tracker that this page understands/).waitFor()
  })

  it('says so when an answer is far too large', async () => {
    const page = await open(demo.url)
    await page.route('**/v1/stream-parts*', (route) => route.fulfill({ body: ' '.repeat(9_000_000) }))
    await page.reload()
    await page.getByText(/larger than this page accepts/).waitFor()
  })

  it('says so when there is no such stream part, node or page', async () => {
    const page = await open(demo.url, partHash(`${simulatedId(1)}/nothing#0`))
    await page.getByText(/No node is in this stream part at the moment/).waitFor()
    await page.goto(`${demo.url}/explorer/#/node/${simulatedId(0xabcdef)}`)
    await page.getByText(/No tracker knows this node/).waitFor()
    await page.goto(`${demo.url}/explorer/#/part/${encodeURIComponent('<script>')}`)
    await page.getByText('There is no such page').waitFor()
  })

  it('says so when the tracker does not tell its network', async () => {
    const page = await open(demo.url, partHash(partA, 'live'))
    await page.getByRole('button', { name: 'Join and listen' }).click()
    await page.getByText(/does not say which network it serves/).waitFor()
  })

  const registry = `0x${'1'.repeat(40)}`
  const registries = { trackerRegistry: registry, streamRegistry: registry, storageRegistry: registry }
  it.each([
    ['is none that it knows', { kind: 'hearsay' }, /This page cannot use the network configuration/],
    [
      'is on a chain that does not answer',
      { kind: 'chain', rpcUrl: 'http://127.0.0.1:1', chainId: 1, registries },
      /The chain with the registries does not answer/,
    ],
  ])('says so when the network %s', async (_, json, sentence) => {
    const page = await open(network.tracker.httpUrl, partHash(partId, 'live'))
    await page.route('**/v1/network', (route) => route.fulfill({ json }))
    await page.getByRole('button', { name: 'Join and listen' }).click()
    await page.getByText(sentence).waitFor()
  })

  it('says so when the browser has no WebRTC', async () => {
    const page = await open(network.tracker.httpUrl, partHash(partId, 'live'))
    await page.evaluate(() => Reflect.deleteProperty(globalThis, 'RTCPeerConnection'))
    await page.getByRole('button', { name: 'Join and listen' }).click()
    await page.getByText(/This browser does not support WebRTC/).waitFor()
  })
})
