import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleProgram } from '../../../packages/browser/src/bundle.ts'
import { launchChromium } from '../../../packages/browser/src/chromium.testkit.ts'
import { servePages } from '../../../packages/browser/src/page-server.testkit.ts'
import { percentile, round } from '../statistics.ts'
import type { PageSteps, PageStepsOptions } from './page-steps.ts'

/** Of a page that shares no process with others: its clock tells 5 microseconds, that of other pages tells 100. */
const isolated = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
}

declare const pageSteps: (options: PageStepsOptions) => Promise<PageSteps>

/** What the content step takes in a page of Chromium, in batches of 64, beside the cipher alone; lower deciles of the rounds. */
export async function pageCosts(rounds: number) {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-page-'))
  await bundleProgram(fileURLToPath(new URL('page-steps.ts', import.meta.url)), join(directory, 'steps.js'))
  const pages = { '/': '<script type="module" src="steps.js"></script>' }
  const server = await servePages(directory, pages, isolated)
  const browser = await launchChromium()
  try {
    const page = await browser.newPage()
    await page.goto(server.url)
    const times = await page.evaluate((options) => pageSteps(options), { perBatch: 64, rounds })
    const decile = (values: readonly number[]) => percentile(values, 0.1)
    return {
      ratio: round(decile(times.seal) / decile(times.cipher)),
      sealUs: round(decile(times.seal)),
      openUs: round(decile(times.open)),
      cipherAloneUs: round(decile(times.cipher)),
    }
  } finally {
    await browser.close()
    await server.close()
    rmSync(directory, { recursive: true })
  }
}
