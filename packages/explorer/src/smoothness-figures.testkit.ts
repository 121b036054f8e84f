// Prints how smooth the picture of a large overlay is in headless Chromium, without a graphics card:
//   node --conditions=runnel-src packages/explorer/src/smoothness-figures.testkit.ts [NODES...]
import type { Page } from 'playwright-core'
import { launchChromium } from '../../browser/src/chromium.testkit.ts'
import { partA } from '../../tracker/src/core/tracker-core.testkit.ts'
import { startDemoWorld } from './demo-world.testkit.ts'
import { buildPage } from './explorer.testkit.ts'

interface Figures {
  readonly longestTaskMs: number
  readonly tasksOver50Ms: number
  readonly framesPerSecond: number
  readonly slowestFrameMs: number
}

const sizes = process.argv.slice(2).map(Number)
const built = await buildPage()
const browser = await launchChromium()
for (const nodes of sizes.length > 0 ? sizes : [100, 500, 2_000]) {
  const demo = await startDemoWorld({ nodes, directory: built.directory, ageMs: 30_000 })
  const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } })
  await page.addInitScript(watchTasks)
  await page.goto(`${demo.url}/explorer/#/part/${encodeURIComponent(partA)}`)
  await page.locator('.graph[data-resting=true]').waitFor()
  print(nodes, 'opening, until the picture rests', await take(page))
  await page.mouse.move(450, 450)
  for (let turn = 0; turn < 40; turn++) await page.mouse.wheel(0, turn % 20 < 10 ? -120 : 120)
  await page.mouse.down()
  for (let step = 0; step < 60; step++) await page.mouse.move(450 + 3 * step, 450 + step)
  await page.mouse.up()
  print(nodes, 'zooming and dragging', await take(page))
  const showsFewer = (gone: number) =>
    page.getByText(`${(nodes - gone).toLocaleString('en')} nodes`, { exact: false }).waitFor()
  for (const gone of [1, 2, 3]) {
    demo.churn()
    await showsFewer(gone)
  }
  await page.locator('.graph[data-resting=true]').waitFor()
  print(nodes, 'three nodes leave, one after the other', await take(page))
  await page.close()
  await demo.stop()
}
await browser.close()
built.remove()

function print(nodes: number, during: string, figures: Figures): void {
  console.log(JSON.stringify({ nodes, during, ...figures }))
}

/** In the page: collects long tasks and the times between frames. */
function watchTasks(): void {
  const state = { tasks: [] as number[], frames: [] as number[] }
  Object.assign(globalThis, { smoothness: state })
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) state.tasks.push(duration)
  }).observe({ type: 'longtask', buffered: true })
  let lastMs = performance.now()
  const frame = (nowMs: number) => {
    state.frames.push(nowMs - lastMs)
    lastMs = nowMs
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
}

/** What was collected since it was last taken. Tasks of less than 50 ms are not reported by browsers. */
function take(page: Page): Promise<Figures> {
  return page.evaluate(() => {
    const { smoothness } = globalThis as unknown as {
      smoothness: { tasks: number[]; frames: number[] }
    }
    const tasks = smoothness.tasks.splice(0)
    const frames = smoothness.frames.splice(0)
    const sumMs = frames.reduce((sum, ms) => sum + ms, 0)
    return {
      longestTaskMs: Math.round(Math.max(0, ...tasks)),
      tasksOver50Ms: tasks.length,
      framesPerSecond: Math.round((1_000 * frames.length) / sumMs),
      slowestFrameMs: Math.round(Math.max(0, ...frames)),
    }
  })
}
