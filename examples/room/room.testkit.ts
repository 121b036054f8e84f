import type { NetworkSource } from '@runnel/client'
import type { Tracker } from '@runnel/tracker'
import type { Browser, Page } from 'playwright-core'
import { vi } from 'vitest'
import { devicePermissions } from '../../packages/browser/src/chromium.testkit.ts'

/** A network with the streams in which rooms and their recordings are; the recordings are kept by these storage nodes. */
export function roomNetwork(
  { nodeId, url }: Pick<Tracker, 'nodeId' | 'url'>,
  storageNodes: { nodeId: string; url: string }[] = [],
): NetworkSource {
  const owner = `0x${'a'.repeat(40)}`
  const permissions = [{ user: 'public' as const, publish: true, subscribe: true }]
  const streams = [
    { id: `${owner}/rooms`, partitions: 4, permissions, storageNodes: [] },
    { id: `${owner}/recordings`, partitions: 5, permissions, storageNodes },
  ]
  return { kind: 'static', document: { version: 1, trackers: [{ nodeId, url }], streams } }
}

export interface JoinOptions {
  /** Default: camera and microphone. */
  readonly permissions?: readonly string[]
  readonly viewport?: { readonly width: number; readonly height: number }
  /** Runs in the page before anything else. */
  readonly before?: () => void
  readonly onError?: (error: Error) => void
}

/** Opens the page at `link` and joins. Without a room in the link it is a new one. */
export async function joinRoom(
  browser: Browser,
  link: string,
  name: string,
  { permissions = devicePermissions, viewport, before, onError }: JoinOptions = {},
): Promise<Page> {
  const context = await browser.newContext({
    permissions: [...permissions],
    viewport: viewport ?? { width: 1280, height: 800 },
  })
  const page = await context.newPage()
  if (onError !== undefined) page.on('pageerror', onError)
  if (before !== undefined) await page.addInitScript(before)
  await page.goto(link)
  await page.getByLabel('Your name').fill(name)
  await page.getByRole('button', { name: 'Join' }).click()
  await page.locator('#room').waitFor()
  await page.locator('#lobby').waitFor({ state: 'hidden' })
  return page
}

export const tile = (page: Page, name: string) => page.locator('.tile', { hasText: name })

/** Something of a member's picture, which tells one from the next: undefined where none is painted. */
const pictureOf = (page: Page, name: string) =>
  tile(page, name)
    .locator('canvas')
    .evaluate((canvas: HTMLCanvasElement) => {
      const data = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? []
      let sum = 0
      for (let i = 0; i < data.length; i += 4) sum = (31 * sum + (data[i] ?? 0)) % 1_000_003
      return sum
    })

/** Pages on a machine that is too slow for all of them show a picture now and then. */
const patienceMs = 120_000

/** Waits until a member's picture moves. */
export async function sees(page: Page, name: string): Promise<void> {
  await tile(page, name).locator('canvas').waitFor({ timeout: patienceMs })
  const first = await pictureOf(page, name)
  await vi.waitUntil(async () => (await pictureOf(page, name)) !== first, {
    timeout: patienceMs,
    // To read a canvas takes the page several milliseconds.
    interval: 500,
  })
}

export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text)
  await page.getByRole('button', { name: 'Send' }).click()
}
