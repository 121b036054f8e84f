/// <reference lib="dom" />
import type { Page } from 'playwright-core'

interface Counted {
  /** Pictures painted into canvases. */
  pictures: number
  /** When frames of the page itself were drawn, in ms. */
  framesMs: number[]
}

/** What a page showed for a while. */
export interface Shown {
  readonly framesPerS: number
  readonly longestGapMs: number
  readonly picturesPerS: number
  /** Of the time, the share in which its main thread had work. */
  readonly mainThreadShare: number
}

/** Runs in the page before all else. */
export function countPaintings(): void {
  const counted: Counted = { pictures: 0, framesMs: [] }
  Object.assign(globalThis, { counted })
  const draw = CanvasRenderingContext2D.prototype.drawImage as (...args: unknown[]) => void
  CanvasRenderingContext2D.prototype.drawImage = function (this: unknown, ...args: unknown[]): void {
    counted.pictures++
    draw.apply(this, args)
  }
  const frame = (atMs: number): void => {
    counted.framesMs.push(atMs)
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
}

/** Watches a page with `countPaintings` for so long. */
export async function watchPage(page: Page, seconds: number): Promise<Shown> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Performance.enable')
  const busyS = async (): Promise<number> => {
    const { metrics } = await devtools.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? NaN
  }
  const beforeS = await busyS()
  const shown = await page.evaluate(async (ms) => {
    const { counted } = globalThis as unknown as { counted: Counted }
    const startMs = performance.now()
    Object.assign(counted, { pictures: 0, framesMs: [startMs] })
    await new Promise((resolve) => setTimeout(resolve, ms))
    const tookMs = performance.now() - startMs
    const gaps = counted.framesMs.slice(1).map((atMs, i) => atMs - (counted.framesMs[i] ?? atMs))
    return {
      framesPerS: (1_000 * gaps.length) / tookMs,
      longestGapMs: Math.max(0, ...gaps),
      picturesPerS: (1_000 * counted.pictures) / tookMs,
      tookMs,
    }
  }, 1_000 * seconds)
  const { tookMs, ...figures } = shown
  const mainThreadShare = ((await busyS()) - beforeS) / (tookMs / 1_000)
  await devtools.detach()
  return { ...figures, mainThreadShare }
}
