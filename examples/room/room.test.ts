import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tracker } from '@runnel/tracker'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '@runnel/transport'
import { fakeDevices, launchChromium } from '../../packages/browser/src/chromium.testkit.ts'
import { startTracker } from '../../packages/browser/src/network.testkit.ts'
import { startStorage, type TestStorage } from '../../packages/browser/src/storage.testkit.ts'
import { newAccount } from '../../packages/client/src/client.testkit.ts'
import { serveExample, type ServedExample } from '../serve.ts'
import { joinRoom, roomNetwork, say, sees, tile, type JoinOptions } from './room.testkit.ts'

/** The title of the page that is shared as a screen. */
const shared = 'Slides'
const errors: string[] = []
const pages: Page[] = []
const directory = mkdtempSync(join(tmpdir(), 'runnel-room-'))
let browser: Browser
let tracker: Tracker
let served: ServedExample
let storage: TestStorage

beforeAll(async () => {
  browser = await launchChromium([
    ...fakeDevices(directory),
    `--auto-select-tab-capture-source-by-title=${shared}`,
  ])
  tracker = await startTracker()
  const [port, keeper] = [await freePort(), newAccount()]
  const network = roomNetwork(tracker, [{ nodeId: keeper.nodeId, url: `ws://127.0.0.1:${port}` }])
  storage = await startStorage({ network, privateKey: keeper.privateKey }, { port })
  served = await serveExample('room', network)
})
afterEach(async () => {
  await Promise.all(pages.splice(0).map((page) => page.context().close()))
})
afterAll(async () => {
  await browser.close()
  await served.stop()
  await storage.stop()
  await tracker.stop()
  rmSync(directory, { recursive: true })
})

const until = <T>(isSo: () => Promise<T>) => expect.poll(isSo, { timeout: 60_000 })

/** In a new room, without a link. */
async function enter(
  name: string,
  { link = served.url, ...options }: JoinOptions & { readonly link?: string } = {},
): Promise<Page> {
  const page = await joinRoom(browser, link, name, {
    ...options,
    onError: (error) => errors.push(String(error)),
  })
  pages.push(page)
  return page
}

const isThere = (page: Page, name: string) => tile(page, name).waitFor({ timeout: 60_000 })

/** The id of the element that the keyboard is at. */
const focused = (page: Page) => page.evaluate(() => document.activeElement?.id)

/** What the page says of those who left, and what was said. */
const notices = (page: Page) => page.locator('li').allTextContents()

describe('the room', () => {
  it('is entered by its link: people see and hear each other, chat, mute, and leave', async () => {
    const ada = await enter('Ada')
    expect(await focused(ada)).toBe('title')
    const link = ada.url()
    expect(link).toMatch(/#[\w-]{43}$/)
    await ada.getByText('Nobody else is here yet.').waitFor()
    const ben = await enter('Ben', { link })
    await Promise.all([sees(ada, 'Ben'), sees(ben, 'Ada')])
    await ada.getByText('Nobody else is here yet.').waitFor({ state: 'hidden' })
    await ada.locator('.tile.self video').waitFor()
    await ben.locator('.tile.speaking', { hasText: 'Ada' }).waitFor()
    await say(ada, '   ')
    await say(ada, ' good morning ')
    await ben.locator('li').getByText('good morning').waitFor()
    expect((await notices(ben)).map((text) => text.replace(/ \(\w+\)/, ': '))).toEqual(['Ada: good morning'])
    await ben.getByText('Network', { exact: true }).click()
    const figures = ben.locator('#figures tr', { hasText: 'Ada' })
    await until(async () => /(180|360)p, [1-9]\d*\/s/.test((await figures.textContent()) ?? '')).toBe(true)
    await until(() => ben.locator('#overall').textContent()).toMatch(
      /^1 neighbour, \d+ ms round trip; \d\.\d\d copies/,
    )
    await ada.getByRole('button', { name: 'Microphone' }).click()
    await tile(ben, 'Ada (muted)').waitFor()
    await ada.getByRole('button', { name: 'Microphone: off' }).waitFor()
    await ada.getByRole('button', { name: 'Camera' }).click()
    await tile(ben, 'Ada').getByText('No camera').waitFor()
    await until(() => tile(ben, 'Ada').locator('canvas').count()).toBe(0)
    await ada.getByRole('button', { name: 'Leave' }).click()
    await tile(ben, 'Ada').waitFor({ state: 'detached' })
    await ben.getByText('Nobody else is here now.').waitFor()
    await ada.getByRole('button', { name: 'Join again' }).click()
    await ada.getByRole('button', { name: 'Join', exact: true }).waitFor()
  })

  it('says that camera and microphone are being started, and whether they are on', async () => {
    const ada = await enter('Ada', {
      // The browser asks, and nobody has answered yet.
      before: () => {
        const { mediaDevices } = navigator
        const open = mediaDevices.getUserMedia.bind(mediaDevices)
        const { promise, resolve } = Promise.withResolvers<void>()
        addEventListener('allowed', () => resolve())
        mediaDevices.getUserMedia = (what) => promise.then(() => open(what))
      },
    })
    await ada.getByText(/Your microphone and camera are starting: allow them/).waitFor()
    const camera = ada.getByRole('button', { name: 'Camera: starting …' })
    await camera.focus()
    // Who presses it meanwhile does not turn it off again.
    await camera.dispatchEvent('click')
    await ada.evaluate(() => dispatchEvent(new Event('allowed')))
    for (const name of ['Camera: on', 'Microphone: on', 'Screen: off'])
      await ada.getByRole('button', { name }).waitFor()
    expect(await focused(ada)).toBe('camera')
    await ada.getByText('You are in the room.', { exact: true }).waitFor()
  })

  it('has a user of its own in each tab, also in one that was duplicated; a tab that is loaded again stays who it is', async () => {
    const ada = await enter('Ada', { permissions: [] })
    const join = async (page: Page, name: string): Promise<Page> => {
      await page.getByLabel('Your name').fill(name)
      await page.getByRole('button', { name: 'Join' }).click()
      await page.locator('#room').waitFor()
      return page
    }
    const opened = ada.waitForEvent('popup')
    // As in a tab that is duplicated, what the session keeps is copied.
    await ada.evaluate(() => void open(location.href))
    const twin = await join(await opened, 'Twin')
    await Promise.all([isThere(ada, 'Twin'), isThere(twin, 'Ada')])
    const keyOf = (page: Page) =>
      page.evaluate(
        () =>
          (JSON.parse(sessionStorage.getItem('runnel-room') ?? '') as Record<string, unknown>)['privateKey'],
      )
    const [key, other] = [await keyOf(ada), await keyOf(twin)]
    expect(other).not.toBe(key)
    await ada.reload()
    // The twin was the last to give a name to this browser.
    await until(() => ada.getByLabel('Your name').inputValue()).toBe('Ada')
    await join(ada, 'Ada')
    await isThere(twin, 'Ada')
    expect(await keyOf(ada)).toBe(key)
  })

  it('lets go of a page that is loaded again or closed', async () => {
    const ada = await enter('Ada')
    // Without pictures: where a busy browser still has some to send, the goodbye may stay behind them.
    const ben = await enter('Ben', { link: ada.url(), permissions: ['microphone'] })
    await Promise.all([isThere(ada, 'Ben'), isThere(ben, 'Ada')])
    await ben.reload()
    await tile(ada, 'Ben').waitFor({ state: 'detached' })
    expect(await notices(ada)).toEqual(['Ben left.'])
    await ben.getByLabel('Your name').fill('Ben again')
    await ben.getByRole('button', { name: 'Join' }).click()
    await isThere(ada, 'Ben again')
    expect(await ada.locator('.tile:not(.self)').count()).toBe(1)
    await ben.close()
    await tile(ada, 'Ben again').waitFor({ state: 'detached' })
    expect(await notices(ada)).toEqual(['Ben left.', 'Ben again left.'])
  })

  it('is private: another room in the same stream sees and reads nothing', async () => {
    const ada = await enter('Ada')
    const ben = await enter('Ben', { link: ada.url() })
    await sees(ben, 'Ada')
    const eve = await enter('Eve')
    await say(ada, 'psst')
    await ben.locator('li').getByText('psst').waitFor()
    // Her page is in the same overlay: the messages come by.
    await eve.getByText('Network', { exact: true }).click()
    await until(() => eve.locator('#overall').textContent()).toMatch(/[1-9]\.\d\d copies of each/)
    expect(await eve.locator('.tile:not(.self)').count()).toBe(0)
    expect(await eve.locator('li').count()).toBe(0)
  })

  it('goes on for the others when a camera is refused or taken', async () => {
    const ada = await enter('Ada')
    const link = ada.url()
    const [ben, carla] = [
      await enter('Ben', { link, permissions: [] }),
      // There is no other program here that could take it.
      await enter('Carla', {
        link,
        before: () => {
          navigator.mediaDevices.getUserMedia = () =>
            Promise.reject(new DOMException('Starting failed', 'NotReadableError'))
        },
      }),
    ]
    await ben.getByText(/may not be used: the camera .*Allow it for this page/).waitFor()
    await ben.getByText(/may not be used: the microphone /).waitFor()
    await ben.getByText('Chat', { exact: true }).click()
    await ben.getByText(/may not be used/).waitFor({ state: 'detached' })
    await carla.getByText(/in use by another program.*Close the other program/).waitFor()
    await Promise.all([sees(ben, 'Ada'), sees(carla, 'Ada')])
    await tile(ada, 'Ben (muted)').getByText('No camera').waitFor()
  })

  it('shows a screen beside the camera, until the browser ends it, and goes on when camera and microphone are forbidden', async () => {
    const ada = await enter('Ada')
    const slides = await ada.context().newPage()
    await slides.setContent(`<title>${shared}</title><h1>1</h1>`)
    await ada.bringToFront()
    await ada.getByRole('button', { name: 'Screen' }).click()
    await ada.getByRole('button', { name: 'Screen: on' }).waitFor()
    const ben = await enter('Ben', { link: ada.url() })
    const screen = tile(ben, 'Ada: screen')
    await screen.locator('canvas').waitFor({ timeout: 60_000 })
    await until(() => screen.locator('canvas').evaluate((it: HTMLCanvasElement) => it.height)).toBe(720)
    const camera = ben.locator('.tile', { hasText: 'Ada', hasNotText: 'screen' })
    await camera.locator('canvas').waitFor({ timeout: 60_000 })
    await slides.close()
    await ada.getByText('Your screen is no longer shared.').waitFor()
    await ada.getByRole('button', { name: 'Screen: off' }).waitFor()
    await screen.waitFor({ state: 'detached' })
    await ada.context().clearPermissions()
    await ada.getByText(/Your camera has stopped: .* may no longer use it/).waitFor()
    await ada.getByText(/Your microphone has stopped: /).waitFor()
    for (const name of ['Camera: off', 'Microphone: off']) await ada.getByRole('button', { name }).waitFor()
    await tile(ben, 'Ada (muted)').getByText('No camera').waitFor()
    await sees(ada, 'Ben')
  })

  it('says which device is refused, and where the link is that may not be copied', async () => {
    const ada = await enter('Ada', { permissions: ['microphone'] })
    await ada.getByText(/may not be used: the camera /).waitFor()
    await ada.getByRole('button', { name: 'Copy link' }).click()
    await ada.getByText(`Copy it from here: ${ada.url()}`).waitFor()
  })

  it('says what to do where the network has no such stream', async () => {
    const page = await browser.newPage()
    pages.push(page)
    await page.goto(`${served.url}?stream=nonexistent`)
    await page.getByLabel('Your name').fill('Ada')
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByText(/^This network has no stream called nonexistent\. Check the link/).waitFor()
  })

  it('turns a camera off again that cannot be published', async () => {
    const ada = await enter('Ada', {
      // A browser that has no encoder for pictures.
      before: () => {
        VideoEncoder.isConfigSupported = () => Promise.resolve({ supported: false })
      },
    })
    await ada.getByText(/cannot encode video.*Use a browser with WebCodecs/).waitFor()
    expect(await ada.locator('.tile.self').count()).toBe(0)
    const camera = ada.getByRole('button', { name: 'Camera' })
    await until(() => camera.getAttribute('aria-pressed')).toBe('false')
  })

  it('says so where there is no codec in common, and goes on', async () => {
    const ada = await enter('Ada')
    const ben = await enter('Ben', {
      link: ada.url(),
      // A browser that has no decoder for pictures.
      before: () => {
        VideoDecoder.isConfigSupported = () => Promise.resolve({ supported: false })
      },
    })
    await ada.getByText('No codec in common: Ben cannot see you.').waitFor()
    await tile(ben, 'Ada').getByText('no codec in common').waitFor()
    await sees(ada, 'Ben')
  })

  it('is recorded, and played back: with a time line, thumbnails, speeds and keys, on a phone, too', async () => {
    const ada = await enter('Ada')
    await ada.getByRole('button', { name: 'Record' }).click()
    await ada.getByText('Recording. All who are here').waitFor()
    await ada.getByText('You are recording this room.').waitFor()
    const ben = await enter('Ben', { link: ada.url() })
    await ben.getByText(/^Ada \(0x\w{6}\) is recording this room\.$/).waitFor()
    await ada.getByRole('button', { name: /Recording \d+:[1-5]\d/ }).click()
    await ada.getByText('Recorded. Use the link to play it.').waitFor()
    await ben.getByText(/is recording this room/).waitFor({ state: 'hidden' })
    await ben.close()
    const link = await ada.locator('#recording').evaluate((anchor: HTMLAnchorElement) => anchor.href)
    await ada.close()
    expect(link).toMatch(/playback\.html\?from=\d+&to=\d+#[\w-]{43}$/)
    const eve = await (await browser.newContext({ viewport: { width: 360, height: 740 } })).newPage()
    pages.push(eve)
    eve.on('pageerror', (error) => errors.push(String(error)))
    await eve.goto(link)
    await eve.getByText('Recorded on').waitFor()
    const at = () => eve.getByLabel('Time line').evaluate((slider: HTMLInputElement) => slider.valueAsNumber)
    await eve.keyboard.press('ArrowRight')
    await until(at).toBeGreaterThan(0)
    await eve.locator('#thumbnails canvas').first().waitFor()
    const line = await eve.locator('#line').boundingBox()
    for (const x of [1, (line?.width ?? 0) - 1]) {
      await eve.locator('#line').hover({ position: { x, y: 20 } })
      await eve.locator('#preview').waitFor()
      const preview = await eve.locator('#preview').boundingBox()
      expect(preview?.x).toBeGreaterThanOrEqual(line?.x ?? 0)
      expect((preview?.x ?? 0) + (preview?.width ?? 0)).toBeLessThanOrEqual(360)
      await eve.mouse.move(0, 0)
      await eve.locator('#preview').waitFor({ state: 'hidden' })
    }
    await eve.getByRole('button', { name: '0.5×' }).click()
    await eve.keyboard.press('ArrowLeft')
    await until(at).toBe(0)
    await eve.getByRole('button', { name: 'Play', exact: true }).click()
    await sees(eve, 'Ada')
    const widths = await eve.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
    expect(widths[0]).toBeLessThanOrEqual(widths[1] ?? 0)
    const heights = await eve.locator('nav button').evaluateAll((all) => all.map((one) => one.clientHeight))
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(40)
  })

  it.each<[string, JoinOptions]>([
    ['loaded again', {}],
    // It hears as little of its end.
    ['killed', { before: () => addEventListener('pagehide', (event) => event.stopImmediatePropagation()) }],
  ])(
    'offers a recording that ended because its page was %s, and no later one with it',
    async (_, options) => {
      const ada = await enter('Ada', { permissions: ['microphone'], ...options })
      const linkOf = (page: Page) =>
        page.locator('#recording').evaluate((anchor: HTMLAnchorElement) => anchor.href)
      const beginOf = (link: string) => Number(new URL(link).searchParams.get('from'))
      const record = async (): Promise<void> => {
        await ada.getByRole('button', { name: 'Record' }).click()
        await ada.getByRole('button', { name: /Recording \d+:\d[5-9]/ }).waitFor()
      }
      await record()
      expect(await focused(ada)).toBe('record')
      await ada.reload()
      await ada.getByLabel('Your name').fill('   ')
      await ada.getByRole('button', { name: 'Join' }).click()
      expect(await focused(ada)).toBe('name')
      await ada.getByLabel('Your name').fill('Ada')
      await ada.getByRole('button', { name: 'Join' }).click()
      await ada.getByText('The recording ended when this page was closed or loaded again.').waitFor()
      const link = await linkOf(ada)
      expect(link).toMatch(/playback\.html\?from=\d+&to=\d+#[\w-]{43}$/)
      await record()
      await ada.getByRole('button', { name: /Recording/ }).click()
      await ada.getByText('Recorded. Use the link to play it.').waitFor()
      const next = await linkOf(ada)
      await ada.goto(link)
      await ada.getByText('Recorded on').waitFor()
      const seconds = await ada
        .getByLabel('Time line')
        .evaluate((slider: HTMLInputElement) => Number(slider.max))
      expect(beginOf(link) + 1_000 * seconds).toBeLessThanOrEqual(beginOf(next))
    },
  )

  it('says so where there is no recording that one can read', async () => {
    const page = await (await browser.newContext()).newPage()
    pages.push(page)
    await page.goto(`${served.url}playback.html?from=1#${'A'.repeat(43)}`)
    await page
      .getByText(/There is no recording here, or none that you can read.*Use the whole link/)
      .waitFor()
  })

  it('fits a phone', async () => {
    const ada = await enter('Ada', { viewport: { width: 360, height: 740 } })
    const ben = await enter('Ben', { link: ada.url(), viewport: { width: 360, height: 740 } })
    await sees(ada, 'Ben')
    await ben.getByText('Network', { exact: true }).click()
    await ben.locator('#figures tr').waitFor()
    const widths = await ben.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
    expect(widths[0]).toBeLessThanOrEqual(widths[1] ?? 0)
    const table = await ben.locator('#network').evaluate((one) => [one.scrollWidth, one.clientWidth])
    expect(table[0]).toBeLessThanOrEqual(table[1] ?? 0)
    const heights = await ada.locator('nav button').evaluateAll((all) => all.map((one) => one.clientHeight))
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(40)
  })

  it('says so where a link is not whole', async () => {
    const page = await (await browser.newContext()).newPage()
    pages.push(page)
    await page.goto(`${served.url}#short`)
    await page.getByText('This is not the complete link of a room.').waitFor()
    await page.locator('#lobby').waitFor({ state: 'hidden' })
    // Who puts the whole link in its place is let in.
    await page.goto(`${served.url}#${'A'.repeat(43)}`)
    await page.getByRole('button', { name: 'Join' }).waitFor()
    await page.goto(`${served.url}#short`)
    await page.getByRole('link', { name: 'Start a new room' }).click()
    await page.getByRole('button', { name: 'Join' }).waitFor()
  })

  it('lets one join again where joining failed', async () => {
    const page = await (await browser.newContext()).newPage()
    pages.push(page)
    await page.route('**/network.json', (route) => route.abort(), { times: 1 })
    await page.goto(served.url)
    await page.getByLabel('Your name').fill('Ada')
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByText('Failed to fetch').waitFor()
    await page.getByRole('button', { name: 'Join again' }).click()
    await page.getByRole('button', { name: 'Join', exact: true }).click()
    await page.locator('#room').waitFor()
  })

  it('leaves no error in a page', () => {
    expect(errors).toEqual([])
  })
})
