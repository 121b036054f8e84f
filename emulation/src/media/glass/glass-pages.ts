import type { Page } from 'playwright-core'
import { emulationError } from '../../errors.ts'
import type { PageRecord } from './glass-figures.ts'
import { begunWithinMs, clickEveryMs } from './glass-plan.ts'
import type { GlassPage, GlassWay } from './page/main.ts'

/** What a page has. */
interface PageGlobals {
  readonly glass: GlassPage
}

/** The pages of a room, the one that publishes first. What fails in them is PROCESS_FAILED. */
export class GlassPages {
  readonly #pages: readonly Page[]

  constructor(pages: readonly Page[]) {
    this.#pages = pages
  }

  /** Resolves when all who watch see and hear the one that publishes. */
  async begin(way: GlassWay): Promise<void> {
    const [publishing, ...watching] = this.#pages
    for (const [number, page] of this.#pages.entries()) {
      const join = page.evaluate(
        ([way, name]) => (globalThis as unknown as PageGlobals).glass.join(way, name),
        [way, `page ${number}`] as const,
      )
      await told(join)
      // Who comes to an SFU after it watches it.
      if (page === publishing)
        await told(
          page.evaluate((ms) => (globalThis as unknown as PageGlobals).glass.publish(ms), clickEveryMs),
        )
      else await told(page.evaluate(() => (globalThis as unknown as PageGlobals).glass.watch()))
    }
    const seeAndHear = () => (globalThis as unknown as PageGlobals).glass.hasBoth()
    const options = { timeout: begunWithinMs }
    await told(Promise.all(watching.map((page) => page.waitForFunction(seeAndHear, undefined, options))))
  }

  /** What is measured begins now. */
  async measure(): Promise<void> {
    const measure = () => (globalThis as unknown as PageGlobals).glass.measure()
    await told(Promise.all(this.#pages.map((page) => page.evaluate(measure))))
  }

  records(): Promise<PageRecord[]> {
    const record = () => (globalThis as unknown as PageGlobals).glass.record()
    return told(Promise.all(this.#pages.map((page) => page.evaluate(record))))
  }
}

async function told<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    throw emulationError('PROCESS_FAILED', `a page: ${String(error)}`)
  }
}
