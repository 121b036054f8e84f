import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { bundleForPages, pageOptions } from './bundle.ts'
import { launchChromium } from './chromium.testkit.ts'
import type { Firefox } from './firefox.testkit.ts'
import { servePages, type PageServer } from './page-server.testkit.ts'
import type { Driver, Outcome } from './tab-driver.testkit.ts'

const here = dirname(fileURLToPath(import.meta.url))
/** A page as anybody would write it, with what drives it for a test loaded after it. */
const pageWith = (bundle: string, head = ''): string =>
  `<!doctype html><meta charset="utf-8">${head}<title>Runnel</title><link rel="icon" href="data:,">
<script type="module">
import * as runnel from './${bundle}'
globalThis.runnel = runnel
</script>
<script type="module" src="driver.js"></script>`

const noWorkers = `<meta http-equiv="Content-Security-Policy" content="worker-src 'none'">`

type Async<F> = F extends (...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : never
/** The driver of a page, as it is called from outside. */
export type DrivenPage = { readonly [K in keyof Driver]: Async<Driver[K]> }
export type Tab = DrivenPage & { readonly page: Page }

export interface TabOptions {
  /** With the ES module build, also in a page whose policy forbids workers, or the single file. */
  readonly build?: 'modules' | 'no-workers' | 'single'
  readonly context?: BrowserContext
  /** Called before the page is loaded. */
  readonly prepare?: (page: Page) => Promise<void>
}

/** After a page was loaded, or loaded again. */
export async function driverLoaded(page: Page): Promise<void> {
  await page.waitForFunction(() => 'driver' in globalThis)
}

/** A real browser, and pages in it with a client each. */
export class Tabs {
  readonly browser: Browser
  readonly server: PageServer
  /** What went wrong in pages without a test being told. */
  readonly errors: string[] = []
  readonly #directory: string
  #wake: () => void = () => {}

  private constructor(browser: Browser, server: PageServer, directory: string) {
    this.browser = browser
    this.server = server
    this.#directory = directory
  }

  static async start(): Promise<Tabs> {
    const directory = mkdtempSync(join(tmpdir(), 'runnel-tabs-'))
    await bundleForPages(directory)
    await build({
      ...pageOptions,
      absWorkingDir: here,
      entryPoints: [join(here, 'tab-driver.testkit.ts')],
      outfile: join(directory, 'driver.js'),
    })
    const server = await servePages(directory, {
      '/modules': pageWith('runnel.js'),
      '/single': pageWith('runnel.single.js'),
      '/no-workers': pageWith('runnel.js', noWorkers),
    })
    return new Tabs(await launchChromium(), server, directory)
  }

  /** A page with a bundle, in a context of its own or in one that others are in. */
  async open({ build = 'modules', context, prepare }: TabOptions = {}): Promise<Tab> {
    const opened = await (context ?? this.browser).newPage()
    opened.on('pageerror', (error) => this.errors.push(String(error)))
    await prepare?.(opened)
    await opened.goto(`${this.server.url}${build}`)
    await driverLoaded(opened)
    return driven({ page: opened }, callIn(opened))
  }

  /** The page of a Firefox with the ES module build. */
  async openFirefox(firefox: Firefox): Promise<DrivenPage> {
    await firefox.open(`${this.server.url}modules`)
    return driven({}, (name, args) => firefox.evaluate(`driver.${name}(...${JSON.stringify(args)})`))
  }

  /** Stops the processes of all pages, as a machine that sleeps does; they find their clock ahead when the result is called. */
  async sleep(): Promise<() => void> {
    const devtools = await this.browser.newBrowserCDPSession()
    const { processInfo } = await devtools.send('SystemInfo.getProcessInfo')
    const renderers = processInfo.filter(({ type }) => type === 'renderer')
    for (const { id } of renderers) process.kill(id, 'SIGSTOP')
    this.#wake = () => {
      for (const { id } of renderers) process.kill(id, 'SIGCONT')
      this.#wake = () => {}
    }
    return this.#wake
  }

  async close(): Promise<void> {
    this.#wake()
    await this.browser.close()
    await this.server.close()
    rmSync(this.#directory, { recursive: true })
  }
}

/** Calls of the driver in a page, beside what is there already. */
function driven<T extends object>(target: T, call: (name: string, args: unknown[]) => Promise<unknown>) {
  return new Proxy(target as T & DrivenPage, {
    get: (_, name) =>
      name in target || typeof name !== 'string' || name === 'then'
        ? (Reflect.get(target, name) as unknown)
        : (...args: unknown[]) => call(name, args),
  })
}

const callIn = (page: Page) => (name: string, args: unknown[]) =>
  page.evaluate(
    ([name, args]) => {
      const { driver } = globalThis as unknown as {
        driver: Record<string, (...args: unknown[]) => unknown>
      }
      const run = driver[name]
      if (run === undefined) throw new Error(`the driver has no ${name}`)
      return run(...args)
    },
    [name, args] as const,
  )

/** What a call in a page resolved with. Throws what it was refused with. */
export async function value<T>(outcome: Promise<Outcome<T>>): Promise<T> {
  const result = await outcome
  if ('code' in result) throw new Error(`${result.code}: ${result.message}`)
  return result.value
}
