import type { ClientConfig } from '@runnel/client'
import { untilAborted } from '@runnel/protocol'
import type { Page } from 'playwright-core'
import { within } from '../media/within.ts'
import { Browsers } from '../pages/browsers.ts'
import type { Machine, OpenSession } from './machine.ts'
import type { MemberCounts, SessionMember } from './page/member.ts'
import type { SessionNetwork } from './session-network.ts'

const args = [
  ...['--use-fake-device-for-media-stream=fps=30', '--autoplay-policy=no-user-gesture-required'],
  // Browsers of one machine would look for each other by multicast.
  '--disable-features=WebRtcHideLocalIpsWithMdns',
]

export interface PageMachineOptions {
  /** Of the page of a member. */
  readonly url: string
  readonly network: SessionNetwork
  /** For browsers with windows; undefined: without. */
  readonly display: string | undefined
  readonly isRecording: boolean
  /** Of each user. */
  readonly joinMs: number
}

/** A machine whose users are browsers, one for each, as in source 003, with devices that the browser makes up. */
export class PageMachine implements Machine {
  readonly leavesOut: string
  readonly #options: PageMachineOptions
  readonly #browsers = new Browsers()
  #joined = 0

  constructor(options: PageMachineOptions) {
    this.#options = options
    const window = options.display === undefined ? ', a window' : ''
    this.leavesOut = `a camera, a microphone, a person${window}`
  }

  get joined(): number {
    return this.#joined
  }

  /** Users join one after the other. */
  async open(number: number, members: number, signal: AbortSignal): Promise<OpenSession> {
    const { joinMs: limitMs } = this.#options
    const pages: Page[] = []
    let joinMs = 0
    while (pages.length < members) {
      const startMs = performance.now()
      const join = (either: AbortSignal) => untilAborted(this.#join(number), either)
      pages.push(await within(limitMs, signal, join))
      this.#joined++
      joinMs = Math.max(joinMs, performance.now() - startMs)
    }
    let before = { sent: 0, sentBytes: 0, received: 0 }
    return {
      joinMs,
      sample: async () => {
        const all = total(await Promise.all(pages.map(countsOf)))
        const sample = {
          sent: all.sent - before.sent,
          sentBytes: all.sentBytes - before.sentBytes,
          received: all.received - before.received,
        }
        before = all
        return sample
      },
    }
  }

  async stop(): Promise<void> {
    await this.#browsers.close()
  }

  /** From the start of a browser until its user takes part. */
  async #join(number: number): Promise<Page> {
    const { url, network, display, isRecording } = this.#options
    const window = display === undefined ? {} : { headless: false, env: { ...process.env, DISPLAY: display } }
    const browser = await this.#browsers.launch({ args, ...window })
    const context = await browser.newContext({ permissions: ['camera', 'microphone'] })
    const page = await context.newPage()
    await page.goto(url)
    await page.waitForFunction(() => 'member' in globalThis)
    const config: ClientConfig = { network: network.source }
    const streamId = network.streamId(number)
    await page.evaluate(
      ([config, streamId, isRecording]) =>
        (globalThis as unknown as { member: SessionMember }).member.join(config, streamId, isRecording),
      [config, streamId, isRecording] as const,
    )
    return page
  }
}

function countsOf(page: Page): Promise<MemberCounts> {
  return page.evaluate(() => (globalThis as unknown as { member: SessionMember }).member.counts())
}

function total(all: readonly MemberCounts[]): { sent: number; sentBytes: number; received: number } {
  const sum = (of: (counts: MemberCounts) => number) => all.reduce((sum, counts) => sum + of(counts), 0)
  return {
    sent: sum(({ sent }) => sent),
    sentBytes: sum(({ sentBytes }) => sentBytes),
    received: sum(({ received }) => received),
  }
}
