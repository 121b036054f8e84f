import { createClient, type RunnelClient } from '@runnel/client'
import { seededRandom, type Random } from '@runnel/protocol'
import { beginPhase } from '../phase.ts'
import { networkOf, startTracker } from '../../../packages/browser/src/network.testkit.ts'
import { Tabs, value, type Tab } from '../../../packages/browser/src/tabs.testkit.ts'
import { percentile, round } from '../statistics.ts'

export interface TabsBenchOptions {
  /** Of Node, with WebRTC only; all stay. */
  readonly nodes: number
  /** Open at a time, about; every other one stays. */
  readonly tabs: number
  readonly seconds: number
  /** Messages a second, each published by a random one of the members that stay. */
  readonly ratePerS: number
  readonly seed: string
}

interface Member {
  readonly name: string
  publish(content: number): Promise<void>
  /** Resolves with what it has received when that is `count` messages, or when `deadline` resolves. */
  received(count: number, deadline: Promise<void>): Promise<readonly unknown[]>
}

const streamId = `0x${'b'.repeat(40)}/tabs`
/** A tab comes or goes after up to so long. */
const maxPauseMs = 2000
/** After the last message; filling a gap from neighbours takes less. */
const settleMs = 60_000

/**
 * Tabs of Chromium and nodes of Node in one overlay: tabs open, close and vanish at random; what do the members that stay
 * receive?
 */
export async function tabsBench(options: TabsBenchOptions): Promise<object> {
  beginPhase('nodes and tabs that stay')
  const [browser, tracker] = await Promise.all([Tabs.start(), startTracker()])
  const config = { network: networkOf(tracker, streamId) }
  const delaysMs: number[] = []
  const clients: RunnelClient[] = []
  try {
    const random = seededRandom(options.seed)
    const staying: Member[] = []
    for (let i = 0; i < options.nodes; i++) {
      const client = await createClient(config)
      clients.push(client)
      staying.push(await nodeMember(`node ${i}`, client, delaysMs))
    }
    const baseline = await createClient(config)
    clients.push(baseline)
    const flooded: unknown[] = []
    await baseline.subscribe(streamId, { fillGaps: false, order: 'arrival' }, ({ content }) =>
      flooded.push(content),
    )
    const opening = new Opening(browser, config)
    const stayingTabs = Math.ceil(options.tabs / 2)
    for (let i = 0; i < stayingTabs; i++) staying.push(tabMember(`tab ${i}`, await opening.open()))
    const coming = Array.from({ length: options.tabs - stayingTabs }, () => opening.open())
    const churn = { tabs: await Promise.all(coming), opened: 0, closed: 0, vanished: 0 }
    beginPhase('tabs come and go')
    const until = performance.now() + 1000 * options.seconds
    const [sent] = await Promise.all([
      publishSteadily(staying, options, random.fork('publish'), until),
      comeAndGo(churn, { opening, most: churn.tabs.length, random: random.fork('churn'), until }),
    ])
    beginPhase('waiting for the last messages')
    const deadline = new Promise<void>((resolve) => void setTimeout(resolve, settleMs).unref())
    const received = await Promise.all(staying.map((member) => member.received(sent, deadline)))
    const { opened, closed, vanished } = churn
    return {
      bench: 'tabs',
      chromium: browser.browser.version(),
      ...options,
      stayed: { nodes: options.nodes, tabs: stayingTabs },
      churn: { opened, closed, vanished },
      sent,
      expectedDeliveries: sent * staying.length,
      lost: received.reduce((sum, contents) => sum + sent - new Set(contents).size, 0),
      twice: received.reduce((sum, contents) => sum + contents.length - new Set(contents).size, 0),
      losers: staying.filter((_, i) => new Set(received[i]).size < sent).map(({ name }) => name),
      delayToNodesMs: {
        p50: round(percentile(delaysMs, 0.5)),
        p95: round(percentile(delaysMs, 0.95)),
        max: round(Math.max(...delaysMs)),
      },
      /** One more node, which takes what comes and asks for nothing. */
      baselineWithoutGapFilling: { lost: sent - new Set(flooded).size },
      errorsInPages: browser.errors,
    }
  } finally {
    await browser.close()
    await Promise.all(clients.map((client) => client.close()))
    await tracker.stop()
  }
}

async function nodeMember(name: string, client: RunnelClient, delaysMs: number[]): Promise<Member> {
  const contents: unknown[] = []
  let wake = (): void => {}
  await client.subscribe(streamId, {}, ({ content, timestamp }) => {
    contents.push(content)
    delaysMs.push(Date.now() - timestamp)
    wake()
  })
  return {
    name,
    async publish(content) {
      await client.publish(streamId, content)
    },
    async received(count, deadline) {
      const all = new Promise<void>((resolve) => {
        wake = () => contents.length >= count && resolve()
        wake()
      })
      await Promise.race([all, deadline])
      return contents
    },
  }
}

function tabMember(name: string, tab: Tab): Member {
  return {
    name,
    publish: (content) => value(tab.publish(streamId, content)),
    received: async (count, deadline) => {
      await Promise.race([tab.received(count), deadline])
      return tab.received(0)
    },
  }
}

/** Opens tabs that are part of the overlay. */
class Opening {
  readonly #browser: Tabs
  readonly #config: Parameters<Tab['open']>[0]

  constructor(browser: Tabs, config: Parameters<Tab['open']>[0]) {
    this.#browser = browser
    this.#config = config
  }

  async open(): Promise<Tab> {
    const tab = await this.#browser.open()
    await value(tab.open(this.#config))
    await value(tab.subscribe(streamId))
    await tab.neighbours(1)
    return tab
  }
}

interface Churn {
  readonly tabs: Tab[]
  opened: number
  closed: number
  vanished: number
}

/** One after the other: a tab opens, or one that does not stay leaves, with or without a goodbye. */
async function comeAndGo(
  churn: Churn,
  { opening, most, random, until }: { opening: Opening; most: number; random: Random; until: number },
): Promise<void> {
  while (performance.now() < until) {
    await pause(random.next() * maxPauseMs)
    if (churn.tabs.length === 0 || (churn.tabs.length < most && random.next() < 0.5)) {
      churn.tabs.push(await opening.open())
      churn.opened++
      continue
    }
    const [leaving] = churn.tabs.splice(Math.floor(random.next() * churn.tabs.length), 1)
    const polite = random.next() < 0.5
    if (polite) await leaving?.close()
    await leaving?.page.close()
    churn[polite ? 'closed' : 'vanished']++
  }
}

/** Resolves with how many were published: 0, 1, 2 and so on. */
async function publishSteadily(
  members: readonly Member[],
  { ratePerS }: TabsBenchOptions,
  random: Random,
  until: number,
): Promise<number> {
  const publishing: Promise<void>[] = []
  const beganMs = performance.now()
  while (performance.now() < until) {
    await pause(beganMs + (1000 * publishing.length) / ratePerS - performance.now())
    const member = members[Math.floor(random.next() * members.length)]
    if (member) publishing.push(member.publish(publishing.length))
  }
  await Promise.all(publishing)
  return publishing.length
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)))
