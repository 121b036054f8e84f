/// <reference lib="dom" />
import type { Page } from 'playwright-core'

/** Counted since the page was loaded. */
interface Counted {
  /** Messages of others opened, by what they contain. */
  soundsOpened: number
  picturesOpened: number
  /** Pieces of sound given to the loudspeaker, also those that the decoder made up. */
  soundsPlayed: number
  /** Pictures painted into tiles. */
  picturesPainted: number
}

type Watched = Counted & {
  /** When frames of the page itself were drawn, in ms. */
  framesMs: number[]
}

/** What a page showed for a while. */
export interface Shown extends Counted {
  readonly framesPerS: number
  readonly longestGapMs: number
  readonly tookS: number
  /** Of the time, the share in which its main thread had work. */
  readonly mainThreadShare: number
  /** Seconds of a processor for a second, of all processes of the browser. */
  readonly browserCpuShare: number
}

/** Runs in the page before all else. */
export function countPage(): void {
  const counted: Watched = {
    ...{ soundsOpened: 0, picturesOpened: 0, soundsPlayed: 0, picturesPainted: 0 },
    framesMs: [],
  }
  Object.assign(globalThis, { counted })
  const before = <T extends object>(target: T, name: keyof T, count: (it: T) => void): void => {
    const original = target[name] as (...args: unknown[]) => unknown
    Object.assign(target, {
      [name](this: T, ...args: unknown[]): unknown {
        count(this)
        return original.apply(this, args)
      },
    })
  }
  before(CanvasRenderingContext2D.prototype, 'drawImage', ({ canvas }) => {
    if (canvas.isConnected) counted.picturesPainted++
  })
  before(AudioBufferSourceNode.prototype, 'start', () => counted.soundsPlayed++)
  const decrypt = SubtleCrypto.prototype.decrypt
  SubtleCrypto.prototype.decrypt = async function (...args): Promise<ArrayBuffer> {
    const opened = await decrypt.apply(this, args)
    // As `encodeObject` of @runnel/media begins; what members say is JSON.
    const [kind] = new Uint8Array(opened, 0, 1)
    if (kind === 0) counted.soundsOpened++
    if (kind === 1) counted.picturesOpened++
    return opened
  }
  const frame = (atMs: number): void => {
    counted.framesMs.push(atMs)
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
}

/** Watches a page with `countPage` for so long. */
export async function watchPage(page: Page, seconds: number): Promise<Shown> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Performance.enable')
  const busyS = async (): Promise<number> => {
    const { metrics } = await devtools.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? NaN
  }
  const before = { busyS: await busyS(), cpuS: await browserCpuS(page) }
  const shown = await page.evaluate(async (ms) => {
    const { counted } = globalThis as unknown as { counted: Watched }
    const startMs = performance.now()
    const countedBefore = { ...counted }
    counted.framesMs = [startMs]
    await new Promise((resolve) => setTimeout(resolve, ms))
    const tookMs = performance.now() - startMs
    const gaps = counted.framesMs.slice(1).map((atMs, i) => atMs - (counted.framesMs[i] ?? atMs))
    return {
      framesPerS: (1_000 * gaps.length) / tookMs,
      longestGapMs: Math.max(0, ...gaps),
      tookS: tookMs / 1_000,
      soundsOpened: counted.soundsOpened - countedBefore.soundsOpened,
      picturesOpened: counted.picturesOpened - countedBefore.picturesOpened,
      soundsPlayed: counted.soundsPlayed - countedBefore.soundsPlayed,
      picturesPainted: counted.picturesPainted - countedBefore.picturesPainted,
    }
  }, 1_000 * seconds)
  const mainThreadShare = ((await busyS()) - before.busyS) / shown.tookS
  const browserCpuShare = ((await browserCpuS(page)) - before.cpuS) / shown.tookS
  await devtools.detach()
  return { ...shown, mainThreadShare, browserCpuShare }
}

/** Of all processes of the browser, as it tells them. */
async function browserCpuS(page: Page): Promise<number> {
  const devtools = await page.context().browser()?.newBrowserCDPSession()
  const { processInfo = [] } = (await devtools?.send('SystemInfo.getProcessInfo')) ?? {}
  await devtools?.detach()
  return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0)
}
