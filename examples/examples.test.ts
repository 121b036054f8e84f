import { createClient, type NetworkSource, type RunnelClient, type StaticNetwork } from '@runnel/client'
import { createIdentity, generatePrivateKey, loadCrypto, toHex } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '@runnel/tracker'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium } from '../packages/browser/src/chromium.testkit.ts'
import type { Example } from './command-line.ts'
import { serveExample } from './serve.ts'

const owner = `0x${'a'.repeat(40)}`
const publicPaths = ['lobby', 'system/cpu', 'system/memory', 'system/load']
const errors: string[] = []
const crypto = await loadCrypto()
/** Two users who may use the private room. */
const memberKeys = [generatePrivateKey(systemRandom), generatePrivateKey(systemRandom)] as const
const stops: (() => Promise<unknown>)[] = []
let browser: Browser
let network: NetworkSource
let node: RunnelClient

beforeAll(async () => {
  browser = await launchChromium()
  stops.push(() => browser.close())
  const tracker = await startTracker()
  network = { kind: 'static', document: documentOf(tracker) }
  node = await createClient({ network })
  stops.push(() => node.close())
  for (const path of publicPaths) await node.subscribe(`${owner}/${path}`, {}, () => {})
})
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

async function startTracker(): Promise<Tracker> {
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const modules = { identity, crypto, clock: systemClock, random: systemRandom }
  const tracker = createTracker({ listen: { port: 0 } }, modules)
  await tracker.start()
  stops.push(() => tracker.stop())
  return tracker
}

function documentOf({ nodeId, url }: Tracker): StaticNetwork {
  const permissions: StaticNetwork['streams'][number]['permissions'] = [
    { user: 'public', publish: true, subscribe: true },
  ]
  const streams = publicPaths.map((path) => ({ id: `${owner}/${path}`, permissions }))
  const members = memberKeys.map((key) => {
    const user = createIdentity(key, crypto).nodeId
    return { user, publish: true, subscribe: true }
  })
  const room = { id: `${owner}/private`, permissions: members }
  return { version: 1, trackers: [{ nodeId, url }], streams: [...streams, room] }
}

interface OpenOptions {
  /** What stands behind the address of the page. */
  readonly query?: string
  /** What the page finds in `localStorage`. */
  readonly keeps?: Readonly<Record<string, string>>
  /** Whether there is no room for more in it. */
  readonly isFull?: boolean
}

async function open(
  example: Example,
  pages: number,
  { query = '', keeps = {}, isFull = false }: OpenOptions = {},
): Promise<Page[]> {
  const served = await serveExample(example, network)
  stops.push(() => served.stop())
  return Promise.all(
    Array.from({ length: pages }, async () => {
      const page = await browser.newPage()
      page.on('pageerror', (error) => errors.push(String(error)))
      await page.addInitScript((items) => Object.assign(localStorage, items), keeps)
      if (isFull) await page.addInitScript(fillStorage)
      await page.goto(`${served.url}${query}`)
      return page
    }),
  )
}

/** Runs in a page. */
function fillStorage(): void {
  Storage.prototype.setItem = () => {
    throw new DOMException('full', 'QuotaExceededError')
  }
}

describe('the examples', () => {
  it('publish and subscribe from a page', async () => {
    const received = Promise.withResolvers<unknown>()
    await node.subscribe(`${owner}/lobby`, {}, ({ content }) => received.resolve(content))
    const [page] = await open('publish-subscribe', 1)
    await page?.getByText(/This page is the node 0x/).waitFor()
    await page?.getByLabel('Message', { exact: true }).fill('<b>hello</b>')
    await page?.getByRole('button').click()
    expect(await received.promise).toBe('<b>hello</b>')
    await page?.locator('li').getByText('<b>hello</b>').waitFor()
    await node.publish(`${owner}/lobby`, { from: 'a node' })
    await page?.locator('li').getByText('{"from":"a node"}').waitFor()
  })

  it('chat between pages', async () => {
    const [first, second] = await open('chat', 2)
    for (const page of [first, second]) await page?.getByText('You are in the room.').waitFor()
    await first?.getByLabel('Your name').fill('Ada')
    await first?.getByLabel('Message', { exact: true }).fill('good morning')
    await first?.getByRole('button').click()
    await second?.locator('li').getByText('good morning').waitFor()
    await node.publish(`${owner}/lobby`, 'no chat message')
    await second?.getByLabel('Your name').fill('Ben')
    await second?.getByLabel('Message', { exact: true }).fill('hello Ada')
    await second?.getByRole('button').click()
    await first?.locator('li').getByText('hello Ada').waitFor()
    expect(await first?.locator('li').count()).toBe(2)
    // Where there is no storage node, the browser keeps what was said; and who one is.
    await first?.reload()
    await first?.getByText('You are in the room.').waitFor()
    const said = await first?.locator('li').allTextContents()
    expect(said?.map((text) => text.replace(/ \(0x\w+\)/, ': '))).toEqual([
      'Ada: good morning',
      'Ben: hello Ada',
    ])
    expect(await first?.getByLabel('Your name').inputValue()).toBe('Ada')
    const [list, form] = [
      await first?.locator('#messages').boundingBox(),
      await first?.locator('form').boundingBox(),
    ]
    expect(form?.y).toBeGreaterThan(list?.y ?? Infinity)
  })

  it('chat, and join a room, where the browser has no room to keep anything', async () => {
    const keeps = { 'runnel-key-0': toHex(memberKeys[1]) }
    const [page] = await open('chat', 1, { keeps, isFull: true })
    await page?.getByText('You are in the room.').waitFor()
    await page?.getByLabel('Your name').fill('Ada')
    await page?.getByLabel('Message', { exact: true }).fill('there is no room')
    await page?.getByRole('button').click()
    await page?.locator('li').getByText('there is no room').waitFor()
    const [room] = await open('room', 1, { isFull: true })
    await room?.getByLabel('Your name').fill('Ada')
    await room?.getByRole('button', { name: 'Join' }).click()
    await room?.locator('#lobby').waitFor({ state: 'hidden' })
  })

  it('chat in an encrypted room with those who may', async () => {
    const member = await createClient({ network, privateKey: toHex(memberKeys[0]) })
    stops.push(() => member.close())
    const received = Promise.withResolvers<unknown>()
    await member.subscribe(`${owner}/private`, {}, ({ content }) => received.resolve(content))
    const [stranger] = await open('chat', 1, { query: '?room=private' })
    await stranger?.getByText(/No permission to subscribe: .* runs: runnel stream grant/).waitFor()
    const keeps = { 'runnel-key-0': toHex(memberKeys[1]) }
    const [page] = await open('chat', 1, { query: '?room=private', keeps })
    await page?.getByText('You are in the room.').waitFor()
    await page?.getByLabel('Your name').fill('Ada')
    await page?.getByLabel('Message', { exact: true }).fill('psst')
    await page?.getByRole('button').click()
    expect(await received.promise).toEqual({ name: 'Ada', text: 'psst' })
    await member.publish(`${owner}/private`, { name: 'Ben', text: 'I hear you' })
    await page?.locator('li').getByText('I hear you').waitFor()
    expect(await member.keysOf(`${owner}/private`)).toMatchObject({ isEncrypted: true })
  })

  it('draw a live chart', async () => {
    const [page] = await open('live-chart', 1)
    await page?.getByText('Live, from the overlay').waitFor()
    for (const busy of [0.25, 'nonsense', 7, 0.5]) await node.publish(`${owner}/system/cpu`, { busy })
    await page?.getByText('50 %').waitFor()
    const points = await page?.locator('#line').getAttribute('points')
    expect(points?.split(' ')).toHaveLength(2)
  })

  it('show tiles of measurements, with hooks for React', async () => {
    const [page] = await open('dashboard', 1)
    await page?.getByText(/This page is the node 0x/).waitFor()
    const tile = (name: string) => page?.getByRole('region', { name }).locator('output')
    const publish = (path: string, content: unknown) => node.publish(`${owner}/${path}`, content)
    // A page that has just come has a neighbour when the first message arrives.
    await expect
      .poll(
        async () => {
          await publish('system/memory', { totalBytes: 400, freeBytes: 100 })
          await publish('system/memory', 'nonsense')
          return tile('Memory in use')?.textContent()
        },
        { timeout: 60_000 },
      )
      .toBe('75 %')
    await publish('system/load', { averages: [1.5, 1, 1], processors: 2 })
    await tile('Processes that want to run')?.getByText('1.50').waitFor()
  })

  it('leave no error in a page', () => {
    expect(errors).toEqual([])
  })
})
