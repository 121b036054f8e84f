import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type PhaseTimes, type RunnelClient, type StaticNetwork } from '@runnel/client'
import { createIdentity, generatePrivateKey, loadCrypto } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '@runnel/tracker'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { beginPhase, showProgress } from '../phase.ts'
import { bundleForPages } from '../../../packages/browser/src/bundle.ts'
import { launchChromium } from '../../../packages/browser/src/chromium.testkit.ts'
import { servePages } from '../../../packages/browser/src/page-server.testkit.ts'
import { percentile, round } from '../statistics.ts'
import { livePage, type LivePage, type LoadFigures } from './live-page.ts'
import { longestTaskCpuMs } from './task-trace.ts'

export interface BrowserBenchOptions {
  /** Pages opened, one after the other. */
  readonly loads: number
  /** How long a tab relays. */
  readonly relaySeconds: number
  /** Messages a second that it relays. */
  readonly ratePerS: number
}

const streamId = `0x${'b'.repeat(40)}/bench`
const contentBytes = 100

/**
 * From page load to the first live message, and what relaying costs a tab: real pages in Chromium, a real tracker and nodes
 * of Node with WebRTC only, all on this machine. Baselines: the same page without a client.
 */
export async function browserBench(options: BrowserBenchOptions): Promise<object> {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-bench-'))
  const tracker = await startTracker()
  await bundleForPages(directory)
  const server = await servePages(directory, { '/live': livePage, '/empty': '<!doctype html>' })
  const browser = await launchChromium()
  const config = { network: networkOf(tracker) }
  const nodes = await Promise.all(Array.from({ length: 4 }, () => joined(config)))
  try {
    const live = `${server.url}live?run=${encodeURIComponent(JSON.stringify({ config, streamId }))}`
    beginPhase('loads')
    const load = await measureLoads(options.loads, { browser, nodes, live, empty: `${server.url}empty` })
    beginPhase('a tab that relays')
    const relay = await measureRelay(options, { browser, nodes, live })
    return { bench: 'browser', chromium: browser.version(), load, relay }
  } finally {
    await browser.close()
    await Promise.all(nodes.map((node) => node.close()))
    await tracker.stop()
    await server.close()
    rmSync(directory, { recursive: true })
  }
}

async function startTracker(): Promise<Tracker> {
  const crypto = await loadCrypto()
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const modules = { identity, crypto, clock: systemClock, random: systemRandom }
  const tracker = createTracker({ listen: { port: 0 } }, modules)
  await tracker.start()
  return tracker
}

function networkOf({ nodeId, url }: Tracker): { kind: 'static'; document: StaticNetwork } {
  const permissions = [{ user: 'public' as const, publish: true, subscribe: true }]
  return {
    kind: 'static',
    document: { version: 1, trackers: [{ nodeId, url }], streams: [{ id: streamId, permissions }] },
  }
}

async function joined(config: Parameters<typeof createClient>[0]): Promise<RunnelClient> {
  const client = await createClient(config)
  await client.subscribe(streamId)
  return client
}

interface LoadModules {
  readonly browser: Browser
  readonly nodes: readonly RunnelClient[]
  readonly live: string
  readonly empty: string
}

/** Each page in turn, while somebody publishes fifty times a second; the first one fills the cache and does not count. */
async function measureLoads(loads: number, { browser, nodes, live, empty }: LoadModules): Promise<object> {
  const context = await browser.newContext()
  const stop = publishSteadily(nodes, 50)
  const samples: LoadFigures[] = []
  const baseline: number[] = []
  showProgress(() => `${samples.length} of ${loads + 1} pages`)
  for (let i = 0; i <= loads; i++) {
    baseline.push(await withPage(context, empty, (page) => page.evaluate(() => performance.now())))
    samples.push(
      await withPage(context, live, (page) =>
        page.evaluate(() => (globalThis as unknown as LivePage).firstMessage),
      ),
    )
  }
  await stop()
  await context.close()
  const counted = samples.slice(1)
  const median = (values: readonly number[]): number => round(percentile(values, 0.5))
  const phase = (name: keyof PhaseTimes): number => median(counted.map(({ phases }) => phases[name] ?? NaN))
  return {
    loads: counted.length,
    firstMessageMs: spread(counted.map(({ firstMessageMs }) => firstMessageMs)),
    medianMs: {
      clientStarts: median(counted.map(({ startedMs }) => startedMs)),
      thenRegistry: phase('registry'),
      thenTracker: phase('tracker'),
      thenNeighbour: phase('neighbour'),
      thenMessage: phase('message'),
    },
    baselineEmptyPageMs: spread(baseline.slice(1)),
  }
}

async function withPage<T>(
  context: BrowserContext,
  url: string,
  run: (page: Page) => Promise<T>,
): Promise<T> {
  const page = await context.newPage()
  try {
    await page.goto(url)
    return await run(page)
  } finally {
    await page.close()
  }
}

/** One tab with all nodes as neighbours: one of them publishes, so each message goes on to the three others. */
async function measureRelay(
  { relaySeconds, ratePerS }: BrowserBenchOptions,
  { browser, nodes, live }: Pick<LoadModules, 'browser' | 'nodes' | 'live'>,
): Promise<object> {
  const context = await browser.newContext()
  const [publisher] = nodes
  if (publisher === undefined) throw new Error('there are no nodes')
  const figures = await withPage(context, live, async (page) => {
    const call = <K extends 'ready' | 'watch'>(
      name: K,
      argument: number,
    ): Promise<Awaited<ReturnType<LivePage[K]>>> =>
      page.evaluate(([name, argument]) => (globalThis as unknown as LivePage)[name](argument) as never, [
        name,
        argument,
      ] as const)
    await call('ready', nodes.length)
    const idle = await withTaskTimes(browser, page, () => call('watch', 1000 * relaySeconds))
    const before = delivered(publisher)
    const stop = publishSteadily([publisher], ratePerS)
    const busy = await withTaskTimes(browser, page, async () => {
      const figures = await call('watch', 1000 * relaySeconds)
      await stop()
      return figures
    })
    return { published: delivered(publisher) - before, busy, baselineIdle: idle }
  })
  await context.close()
  return { neighbours: nodes.length, ratePerS, contentBytes, seconds: relaySeconds, ...figures }
}

/** With what the longest task took of a processor: on a machine with other work the clock says more. */
async function withTaskTimes<T extends object>(
  browser: Browser,
  page: Page,
  watch: () => Promise<T>,
): Promise<T & { readonly longestTaskCpuMs: number }> {
  await browser.startTracing(page, { categories: ['-*', 'toplevel'] })
  const figures = await watch()
  return { ...figures, longestTaskCpuMs: longestTaskCpuMs(await browser.stopTracing()) }
}

/** The node's own are counted as delivered too. */
function delivered(client: RunnelClient): number {
  return client.network.metrics().streamParts[0]?.delivered ?? 0
}

/** Publishes in turn; what a late timer owes is published at once. */
function publishSteadily(clients: readonly RunnelClient[], ratePerS: number): () => Promise<void> {
  const startedMs = performance.now()
  const sending = new Set<Promise<unknown>>()
  let sent = 0
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedMs) * ratePerS) / 1000)
    for (; sent < due; sent++) {
      const publishing = clients[sent % clients.length]?.publish(streamId, new Uint8Array(contentBytes))
      if (publishing === undefined) continue
      sending.add(publishing)
      // What failed stays, for the end to throw.
      publishing.then(
        () => sending.delete(publishing),
        () => {},
      )
    }
  }, 1)
  return async () => {
    clearInterval(timer)
    await Promise.all(sending)
  }
}

function spread(samples: readonly number[]): object {
  return {
    p50: round(percentile(samples, 0.5)),
    p95: round(percentile(samples, 0.95)),
    max: round(Math.max(...samples)),
  }
}
