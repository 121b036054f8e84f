import { access, constants, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { nodeError } from '../../errors.ts'
import { browserPage } from './browser-page.ts'
import { optionalPackage } from './optional-package.ts'
import type { BenchUser, NeighbourCount, UserFactory, UserOptions } from './user.ts'

/** Where Debian's package puts it. */
const executablePath = process.env['RUNNEL_CHROMIUM'] ?? '/usr/bin/chromium'

/** What the page has for who drives it. */
interface DrivenPage {
  readonly bench: {
    open(options: object): Promise<void>
    publish(text: string, urgent: boolean): Promise<void>
    neighbours(): NeighbourCount
  }
}

const importPlaywright = () => optionalPackage('playwright-core', () => import('playwright-core'))

/** Throws BENCH_PACKAGE_MISSING or BENCH_BROWSER_MISSING, as far as can be known without starting a browser. */
export async function requireBrowser(): Promise<void> {
  await importPlaywright()
  await access(executablePath, constants.X_OK).catch((cause: unknown) => {
    throw nodeError('BENCH_BROWSER_MISSING', executablePath, { cause })
  })
}

/** Users that are pages of a Chromium, each in a context of its own. Throws BENCH_PACKAGE_MISSING or BENCH_BROWSER_MISSING. */
export async function browserUsers(): Promise<UserFactory> {
  const { chromium } = await importPlaywright()
  const pages = await servePages()
  try {
    const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking']
    const browser = await chromium.launch({ executablePath, args }).catch((cause: unknown) => {
      throw nodeError('BENCH_BROWSER_MISSING', executablePath, { cause })
    })
    return {
      leavesOut:
        'showing what it reads; all pages share a browser, and messages reach them through its debugger',
      open: (options) => openPage(browser, pages.url, options),
      stop: async () => {
        await browser.close()
        pages.stop()
      },
    }
  } catch (error) {
    pages.stop()
    throw error
  }
}

async function openPage(browser: Browser, url: string, options: UserOptions): Promise<BenchUser> {
  const { plan, place, part, onMessage } = options
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    await page.exposeFunction('benchReceived', (text: string, atMs: number) =>
      onMessage(Buffer.from(text, 'base64'), atMs),
    )
    await page.goto(url)
    await page.waitForFunction(() => 'bench' in globalThis)
    const urgent = plan.flows.some((flow) => flow.urgent)
    const config = { network: place.network, ...place.user }
    await openIn(page, { config, ...part, subscribes: plan.subscribes, urgent })
    return {
      publish: (content, isUrgent) => publishIn(page, Buffer.from(content).toString('base64'), isUrgent),
      dropped: () => undefined,
      neighbours: () => page.evaluate(() => (globalThis as unknown as DrivenPage).bench.neighbours()),
      stop: () => context.close(),
    }
  } catch (error) {
    await context.close()
    throw error
  }
}

function openIn(page: Page, options: object): Promise<void> {
  return page.evaluate((given) => (globalThis as unknown as DrivenPage).bench.open(given), options)
}

function publishIn(page: Page, text: string, urgent: boolean): Promise<void> {
  return page.evaluate(
    ([content, isUrgent]) => (globalThis as unknown as DrivenPage).bench.publish(content, isUrgent),
    [text, urgent] as const,
  )
}

/** The page, and the SDK beside it. Throws BENCH_PACKAGE_MISSING. */
async function servePages(): Promise<{ readonly url: string; stop(): void }> {
  const entry = await optionalPackage('@runnel/browser', () =>
    Promise.resolve(import.meta.resolve('@runnel/browser')),
  )
  const directory = dirname(fileURLToPath(entry))
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const content = pathname === '/' ? Promise.resolve(browserPage) : readFile(join(directory, pathname))
    const type = pathname === '/' ? 'text/html' : 'text/javascript'
    content.then(
      (body) => response.writeHead(200, { 'content-type': type }).end(body),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
