import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pageOptions } from '@runnel/browser/bundle'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { devicePermissions, fakeDevices, launchChromium } from '../../../browser/src/chromium.testkit.ts'
import { servePages, type PageServer } from '../../../browser/src/page-server.testkit.ts'
import type { MediaDriver } from './page-driver.testkit.ts'

const here = dirname(fileURLToPath(import.meta.url))
const page = (
  head = '',
) => `<!doctype html><meta charset="utf-8">${head}<title>Media</title><link rel="icon" href="data:,">
<script type="module" src="driver.js"></script>`
/** Who shares a screen chooses the page of that title. */
const screenChoice = '--auto-select-tab-capture-source-by-title=A still page'
const noWasm = `<meta http-equiv="Content-Security-Policy" content="script-src 'self' blob:">`

/** A page with a driver in it. */
export interface MediaPage {
  readonly page: Page
  call<K extends keyof MediaDriver>(
    name: K,
    ...args: Parameters<MediaDriver[K]>
  ): Promise<Awaited<ReturnType<MediaDriver[K]>>>
}

/** A Chromium with devices that it makes up, and pages in it. */
export class MediaPages {
  /** What went wrong in pages without a test being told. */
  readonly errors: string[] = []
  readonly #browser: Browser
  readonly #server: PageServer
  readonly #directory: string

  private constructor(browser: Browser, server: PageServer, directory: string) {
    this.#browser = browser
    this.#server = server
    this.#directory = directory
  }

  static async start(): Promise<MediaPages> {
    const directory = mkdtempSync(join(tmpdir(), 'runnel-media-'))
    await build({
      ...pageOptions,
      absWorkingDir: here,
      entryPoints: { driver: join(here, 'page-driver.testkit.ts') },
      outdir: directory,
      splitting: true,
      // What libopus-wasm asks for in Node only.
      external: ['node:module'],
    })
    const server = await servePages(directory, { '/': page(), '/no-wasm': page(noWasm) })
    return new MediaPages(await launchChromium([...fakeDevices(directory), screenChoice]), server, directory)
  }

  /** In a page that may use everything, or no WebAssembly; `beside` another one, which can share it. */
  async open(path: '/' | '/no-wasm' = '/', beside?: MediaPage): Promise<MediaPage> {
    const context =
      beside?.page.context() ?? (await this.#browser.newContext({ permissions: [...devicePermissions] }))
    const page = await context.newPage()
    page.on('pageerror', (error) => this.errors.push(String(error)))
    await page.goto(new URL(path, this.#server.url).href)
    await page.waitForFunction(() => 'driver' in globalThis)
    return {
      page,
      call: (name, ...args) =>
        page.evaluate(
          ([name, args]) => {
            const { driver } = globalThis as unknown as {
              driver: Record<string, (...args: unknown[]) => never>
            }
            const run = driver[name]
            if (run === undefined) throw new Error(`the driver has no ${name}`)
            return run(...args)
          },
          [name, args] as const,
        ),
    }
  }

  async close(): Promise<void> {
    await this.#browser.close()
    await this.#server.close()
    rmSync(this.#directory, { recursive: true })
  }
}
