// Takes the pictures of the explorer in the README:  npm run screenshot
// They show simulated nodes in AWS regions around the code of a real tracker; with the same fonts they come out the same each time.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { launchChromium } from '../packages/browser/src/chromium.testkit.ts'
import { startDemoWorld } from '../packages/explorer/src/demo-world.testkit.ts'
import { buildPage } from '../packages/explorer/src/explorer.testkit.ts'
import { partA } from '../packages/tracker/src/core/tracker-core.testkit.ts'

const target = fileURLToPath(new URL('../docs/images', import.meta.url))
mkdirSync(target, { recursive: true })
const built = await buildPage()
const demo = await startDemoWorld({ nodes: 200, directory: built.directory, ageMs: 120_000 })
const browser = await launchChromium()
for (const colorScheme of ['light', 'dark'] as const) {
  const page = await browser.newPage({
    ...{ viewport: { width: 1_200, height: 770 }, colorScheme, reducedMotion: 'reduce' },
  })
  await page.goto(`${demo.url}/explorer/#/part/${encodeURIComponent(partA)}`)
  await page.locator('.graph[data-resting=true]').waitFor()
  await page.getByText('Predicted mean').waitFor()
  await page.evaluate(() => document.fonts.ready)
  await page.screenshot({ path: join(target, `explorer-${colorScheme}.png`) })
  await page.close()
}
await browser.close()
await demo.stop()
built.remove()
