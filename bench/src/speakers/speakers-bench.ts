import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { getPriority, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient, type NetworkSource } from '@runnel/client'
import { openSession } from '@runnel/media'
import type { Browser, Page } from 'playwright-core'
import { roomStep } from '../../../examples/room/room-key.ts'
import { serveExample } from '../../../examples/serve.ts'
import {
  devicePermissions,
  fakeDevices,
  launchChromium,
} from '../../../packages/browser/src/chromium.testkit.ts'
import { startTracker } from '../../../packages/browser/src/network.testkit.ts'
import { ChildCalls } from '../child-calls.ts'
import { within } from '../settling.ts'
import { round } from '../statistics.ts'
import { pageFigures, roomFigures, shortfallOf, smoothFramesPerS } from './room-figures.ts'
import { countPage, watchPage } from './shown-page.ts'
import type { SpeakerCalls } from './speaker-child.ts'
import { recordTake, takeCodecs, type Take } from './take.ts'

export interface SpeakersBenchOptions {
  /** Numbers of speakers, one after the other, each more than the one before. */
  readonly speakers: readonly number[]
  /** Each of them is watched for so long. */
  readonly seconds: number
  readonly limitS: number
}

const owner = `0x${'a'.repeat(40)}`
const streamId = `${owner}/rooms`
const takeSeconds = 5
/** All pictures are waited for so long. */
const settleMs = 20_000

/**
 * One page of the room example in Chromium, which sends its own voice and camera, and more and more speakers in it, which
 * say and show what the page did before. The baseline is the same page alone.
 */
export async function speakersBench(
  { speakers, seconds, limitS }: SpeakersBenchOptions,
  tell: (text: string) => void = () => {},
) {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-speakers-'))
  const tracker = await startTracker()
  const network = networkOf(tracker)
  const served = await serveExample('room', network)
  const browser = await launchChromium(fakeDevices(directory))
  const child = fork(fileURLToPath(new URL('speaker-child.ts', import.meta.url)), {
    execArgv: ['--conditions=runnel-src'],
  })
  if (child.pid !== undefined) putFirst(child.pid)
  const calls = new ChildCalls<SpeakerCalls>(child)
  const run = async () => {
    const page = await enter(browser, served.url)
    const secret = new URL(page.url()).hash.slice(1)
    const take = await takeOf(network, secret)
    const alone = await watchPage(page, seconds)
    const room = []
    let present = 0
    for (const count of speakers) {
      tell(`${count} speakers`)
      await calls.call('add', count - present, { network, streamId, secret }, take)
      present = count
      await untilShown(page, count)
      const before = await calls.call('figures')
      const watched = await watchPage(page, seconds)
      const seen = await page.locator(shown).count()
      const figures = roomFigures(watched, before, await calls.call('figures'))
      room.push({ speakers: count, seen, ...figures, shortfall: shortfallOf(figures) ?? 'none' })
      if (watched.framesPerS < smoothFramesPerS) break
    }
    return { alone, room }
  }
  try {
    const { alone, room } = await within(limitS * 1_000, 'watching the room', run())
    const last = room.at(-1)
    const smooth = room.filter(({ framesPerS }) => framesPerS >= smoothFramesPerS)
    const carried = room.filter(({ shortfall }) => shortfall === 'none')
    return {
      ...{ bench: 'speakers', seconds, smoothFramesPerS, smoothUpTo: smooth.at(-1)?.speakers ?? 0 },
      ...{ carriedUpTo: carried.at(-1)?.speakers ?? 0, room },
      baseline: { what: 'the same page alone in its room', ...pageFigures(alone) },
      ratio: { framesPerS: round((last?.framesPerS ?? NaN) / alone.framesPerS) },
    }
  } finally {
    await calls.stop()
    await browser.close()
    await served.stop()
    await tracker.stop()
    rmSync(directory, { recursive: true })
  }
}

/** Speakers stand for other computers, so their process goes before the page, where the system lets this one say so. */
function putFirst(pid: number): void {
  try {
    setPriority(pid, getPriority(pid) - 5)
  } catch {
    // Otherwise `speakersLateMs` tells whether they waited for the page.
  }
}

function networkOf({ nodeId, url }: { readonly nodeId: string; readonly url: string }): NetworkSource {
  const permissions = [{ user: 'public' as const, publish: true, subscribe: true }]
  const streams = [{ id: streamId, partitions: 4, permissions }]
  return { kind: 'static', document: { version: 1, trackers: [{ nodeId, url }], streams } }
}

async function enter(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext({
    permissions: [...devicePermissions],
    viewport: { width: 1280, height: 800 },
  })
  const page = await context.newPage()
  await page.addInitScript(countPage)
  await page.goto(url)
  await page.getByLabel('Your name').fill('Listener')
  await page.getByRole('button', { name: 'Join' }).click()
  await page.locator('.tile.self video').waitFor()
  return page
}

/** The voice of the page, and its small pictures: who is among many is shown no others. */
async function takeOf(network: NetworkSource, secret: string): Promise<Take> {
  await using client = await createClient({ network }, { contentSteps: [await roomStep(secret)] })
  await using session = await openSession(streamId, { name: 'Recorder', decodes: takeCodecs }, { client })
  await session.read([1])
  return await recordTake(session, takeSeconds)
}

const shown = '.tile canvas:not([hidden])'

/** Whoever is not shown after a while is left out of the pictures a second. */
async function untilShown(page: Page, count: number): Promise<void> {
  const isShown = ([selector, least]: readonly [string, number]): boolean =>
    document.querySelectorAll(selector).length >= least
  await page.waitForFunction(isShown, [shown, count] as const, { timeout: settleMs }).catch(() => {})
}
