import { appendFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { bundleForPages } from '@runnel/browser/bundle'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { emulationError } from '../errors.ts'
import { Browsers } from '../pages/browsers.ts'
import { samplesFile } from './soak-process.ts'

export interface SoakTabsOptions {
  readonly directory: string
  readonly network: object
  readonly streamId: string
}

/** Two tabs of a Chromium in the stream: one stays, one is loaded again and again. */
export class SoakTabs {
  readonly #options: SoakTabsOptions
  readonly #browsers = new Browsers()
  #browser: Browser | undefined
  #server: Server | undefined
  #staying: { readonly page: Page; readonly devtools: CDPSession } | undefined
  #loaded: Page | undefined

  constructor(options: SoakTabsOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    const pages = join(this.#options.directory, 'pages')
    await bundleForPages(pages)
    const { server, url } = await servePages(pages, pageOf(this.#options))
    this.#server = server
    this.#browser = await this.#browsers.launch({})
    const open = async (): Promise<Page> => {
      const page = await this.#newPage()
      await page.goto(url)
      return page
    }
    const page = await open()
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Performance.enable')
    await devtools.send('HeapProfiler.enable')
    this.#staying = { page, devtools }
    this.#loaded = await open()
  }

  async reload(): Promise<void> {
    await this.#loaded?.reload()
  }

  /** Writes down what the tab that stays holds after a collection, and what it has received. */
  async sample(): Promise<void> {
    if (this.#staying === undefined) return
    const { page, devtools } = this.#staying
    await devtools.send('HeapProfiler.collectGarbage')
    const { metrics } = await devtools.send('Performance.getMetrics')
    const valueOf = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? NaN
    const delivered = await page.evaluate(() => (globalThis as { delivered?: number }).delivered ?? 0)
    const sample = {
      atMs: Date.now(),
      heapBytes: valueOf('JSHeapUsedSize'),
      listeners: valueOf('JSEventListeners'),
      delivered,
    }
    appendFileSync(samplesFile(this.#options.directory, 'tab'), `${JSON.stringify(sample)}\n`)
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    await this.#browsers.close()
    this.#server?.closeAllConnections()
    this.#server?.close()
  }

  async #newPage(): Promise<Page> {
    if (this.#browser === undefined) throw emulationError('PROCESS_FAILED', 'no Chromium runs')
    return this.#browser.newPage()
  }
}

function pageOf({ network, streamId }: SoakTabsOptions): string {
  const config = JSON.stringify({ network: { kind: 'static', document: network } })
  return `<!doctype html><meta charset="utf-8"><title>Soak</title><link rel="icon" href="data:,">
<script type="module">
import { createClient } from './runnel.js'
globalThis.delivered = 0
const client = await createClient(${config})
await client.subscribe(${JSON.stringify(streamId)}, {}, () => void globalThis.delivered++)
</script>`
}

async function servePages(directory: string, page: string): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const isPage = pathname === '/'
    const content = isPage ? Promise.resolve(page) : readFile(join(directory, pathname))
    content.then(
      (body) =>
        response.writeHead(200, { 'content-type': isPage ? 'text/html' : 'text/javascript' }).end(body),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}
