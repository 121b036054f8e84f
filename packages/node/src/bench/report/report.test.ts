import { describe, expect, it } from 'vitest'
import { nodeError } from '../../errors.ts'
import { parseAims } from '../core/aims.ts'
import type { Found } from '../core/ramp.ts'
import type { LoadPlan } from '../core/plan.ts'
import type { Driven } from '../load/drive.ts'
import type { LoadResult } from '../load/generator.ts'
import { DelayHistogram } from '../load/histogram.ts'
import type { Target } from '../network/target.ts'
import { barsOf } from './chart.ts'
import { csvOf } from './csv.ts'
import { reportPage } from './html.ts'
import { liveText } from './live.ts'
import { servePrometheus } from './prometheus.ts'
import { reportOf, type ReportInput } from './run-report.ts'
import { reportText } from './text.ts'

const plan: LoadPlan = {
  ...{
    runId: 1,
    sender: 0,
    kind: 'light',
    links: 'websocket',
    floods: 'thin',
    clients: 4,
    publishersPerPart: 4,
    subscribes: true,
  },
  ...{ history: 0, connectPerS: 10, degree: 4 },
  parts: [{ streamId: '0x/s', partition: 0 }],
  flows: [{ name: 'messages', ratePerS: 1, sizeBytes: 100, urgent: false }],
}
const times = { settleMs: 1, warmupMs: 1, durationMs: 1_000, drainMs: 1, prepareMs: 0 }
const target: Target = {
  ...{ source: { kind: 'static', document: { version: 1, trackers: [], streams: [] } }, user: undefined },
  ...{ parts: plan.parts, description: 'a <network>', gateway: undefined },
  ...{ costs: () => [], died: () => [], stop: () => Promise.resolve(), admit: () => Promise.resolve() },
}

function encoded(delays: readonly number[]): string {
  const histogram = new DelayHistogram()
  for (const delay of delays) histogram.add(delay)
  return histogram.encode()
}

const result = (over: Partial<LoadResult> = {}): LoadResult => ({
  ...{ name: 'one', received: 12, duplicates: 0, disordered: 0, missing: 0, published: [4] },
  ...{ pending: 0, unsent: [0], inWindow: 2, first: 0, dropped: { late: 0, refused: 0, unresolved: 0 } },
  ...{ cpuShare: 0.1, rssBytes: 1, latenessP99Ms: 0.2, clockErrorMs: 0, errors: {}, leavesOut: 'decoding' },
  ...{ delays: encoded([1, 2, 3]), joins: encoded([40]), lateness: encoded([0.1]) },
  ...over,
})
const seconds = [1, 2, 3].map((atS) => ({
  ...{
    atS,
    published: 4,
    received: 12,
    publishedPerS: 4,
    receivedPerS: 12,
    p50Ms: atS === 1 ? undefined : 2,
    p99Ms: 3,
    cpuShare: 0.1,
  },
}))

function reportWith(
  results: readonly LoadResult[],
  aims = '',
  over: Partial<ReportInput> = {},
  driven: Partial<Driven> = {},
) {
  const input = {
    title: 'pubsub',
    startedAt: 'now',
    options: "--aim 'p99<1ms'",
    ...{ plan, times, ...over },
    target,
    aims: aims === '' ? [] : parseAims(aims),
  }
  return reportOf(input, {
    results,
    settledInMs: 5,
    seconds,
    processes: [],
    unsettled: [],
    cut: undefined,
    ...driven,
  })
}

describe('reportOf', () => {
  it('counts what came against what should have, over all generators', () => {
    const half = { received: 6, published: [2] }
    expect(reportWith([result(half), result(half)])).toMatchObject({
      published: 4,
      expected: 12,
      received: 12,
      lossPercent: 0,
    })
    expect(reportWith([result({ received: 9 })]).lossPercent).toBe(25)
  })

  it('judges aims by what was measured', () => {
    const report = reportWith([result({ received: 9 })], 'p99<50ms,loss=0,join<1s')
    expect(report.aims.map(({ met }) => met)).toEqual([true, false, true])
  })

  it('counts a second what arrived in the time that is measured', () => {
    expect(reportWith([result()]).receivedPerS).toBe(2)
    expect(reportWith([result(), result({ inWindow: 1 })]).receivedPerS).toBe(3)
  })

  it('knows of loss by the numbers that are missing, where others publish', () => {
    expect(reportWith([result({ published: [0], received: 9, missing: 1 })])).toMatchObject({
      expected: 10,
      lossPercent: 10,
    })
  })

  it('knows of loss by how much is stored, where users read history', () => {
    const resend = { plan: { ...plan, subscribes: false, publishersPerPart: 0, history: 10 } }
    const half = result({ published: [0], received: 20 })
    expect(reportWith([half], 'loss=0', resend)).toMatchObject({ expected: 40, lossPercent: 50 })
    expect(reportWith([result({ published: [0], received: 0 })], '', resend).lossPercent).toBe(100)
  })

  it('counts what was not sent, where the run only publishes', () => {
    const pub = { plan: { ...plan, subscribes: false } }
    const unsent = result({ received: 0, published: [4], unsent: [3] })
    const report = reportWith([unsent], 'loss=0', pub)
    expect(report).toMatchObject({ expected: 0, lossPercent: 75, losses: { lost: 3, unsent: 3 } })
    expect(report.aims[0]?.met).toBe(false)
    expect(reportWith([result({ received: 0 })], 'loss=0', pub).aims[0]?.met).toBe(true)
  })

  it('has measured no loss where nothing should have come, and no rate where nothing was sent', () => {
    const nothing = result({ published: [0], received: 0, delays: encoded([]) })
    const report = reportWith([nothing], 'loss=0,rate<1', { times: { ...times, durationMs: 0 } })
    expect(report.aims.map(({ met, measured }) => [met, measured])).toEqual([
      [false, undefined],
      [false, undefined],
    ])
    expect(reportText(report)).toContain('(loss not measured)')
  })

  it('doubts a run that was cut short, in which what did not come was perhaps on its way', () => {
    const cut = { error: nodeError('BENCH_WORKER_LOST', 'there:1'), silent: ['two'] }
    const report = reportWith([result({ received: 9 })], 'loss=0,rate>0', {}, { cut })
    expect(report).toMatchObject({ received: 9, lossPercent: undefined, losses: { lost: 0 } })
    expect(report.aims.map(({ measured }) => measured)).toEqual([undefined, undefined])
    // What the one that is lost has published is not known, and so not what should have come.
    expect(reportText(report)).toContain('4 published, 9 received (loss not measured)')
    const text = expect.stringMatching(/ended early \(BENCH_WORKER_LOST: .*there:1\); without .* two$/)
    expect(report.doubts).toEqual([{ kind: 'ended-early', text }])
  })

  it('doubts a run that began too early, or lost a process', () => {
    const driven = {
      results: [result()],
      settledInMs: 5,
      seconds,
      processes: [],
      cut: undefined,
      unsettled: ['user 1 has 0 of 3'],
    }
    const input = {
      title: 't',
      startedAt: 'now',
      options: '',
      plan,
      times,
      aims: [],
      target: { ...target, died: () => ['node 1: exit 1'] },
    }
    expect(reportOf(input, driven).doubts.map(({ kind }) => kind)).toEqual(['not-settled', 'process-died'])
  })
})

const found: Found = {
  ...{ load: 4, end: 'network', ramp: 'clients' },
  tried: [
    { load: 4, met: true, text: 'met', p99Ms: 3, lossPercent: 0 },
    { load: 8, met: false, text: 'p99<1ms (<9>)', p99Ms: 9, lossPercent: undefined },
  ],
}

describe('what is shown', () => {
  const report = reportWith([result({ errors: { 'CODE: <b>': 2 } })], 'p99<1ms')

  it('is text for a terminal', () => {
    expect(reportText(report)).toMatch(/4 published, 12 of 12 received \(0 % lost\)/)
    expect(reportText(report)).toContain('MISSED: p99<1ms')
    expect(reportText(report)).toContain('error ×2: CODE: <b>')
  })

  it('is a page that needs nothing else, in which text stays text', () => {
    const page = reportPage(report, { lines: ['found: 4 users'], found })
    expect(page.match(/<svg /g)).toHaveLength(6)
    expect(page).not.toMatch(/https?:|<script|<link|src=/)
    expect(page).toContain('a &lt;network&gt;')
    expect(page).toContain('CODE: &lt;b&gt;')
    expect(page).toContain('found: 4 users')
    expect(page).toMatch(/<td>8<td>9<td class="bad">p99&lt;1ms \(&lt;9&gt;\)/)
    expect(page).toContain('missed: p99&lt;1ms (3 ms)')
    expect(page).toContain("runnel bench pubsub --aim 'p99&lt;1ms'")
    expect(page).toContain(`Node ${process.versions.node}`)
    expect(page).toMatch(/4 light users in 1 overlay,/)
    expect(page).not.toMatch(/NaN|Infinity/)
  })

  it('is a page with how long joining took where nothing was sent, and no empty list', () => {
    const joined = reportWith([result({ delays: encoded([]) })], '', {}, { seconds: [] })
    expect(reportPage(joined).match(/<svg .*/g)).toEqual([expect.stringContaining('Time to join')])
    expect(reportPage(joined)).not.toContain('<ul>')
  })

  it('is a table and a chart while it runs', () => {
    const text = liveText('sending', seconds, 80)
    expect(text).toMatch(/^sending\n/)
    expect(text).toMatch(/received {2}█{3} /)
    expect(liveText('joining', [], 80)).toBe('joining')
  })

  it.each([20, 40, 80, 200])('fits a terminal of %i columns, also in a long run', (columns) => {
    const long = Array.from({ length: 60 }, (_, i) => ({ ...seconds[0]!, atS: i, receivedPerS: 12_345 }))
    const text = liveText('the last messages arrive, and more of them', long, columns)
    expect(text.split('\n').filter((line) => line.length > columns)).toEqual([])
    expect(text).toContain('p99 ms')
    expect(text.match(/CPU/g) === null).toBe(columns < 50)
    expect(text.includes('█'.repeat(60))).toBe(columns === 200)
  })

  it('is a line for each second', () => {
    expect(csvOf(report).split('\n').slice(0, 2)).toEqual([
      'at_s,published_per_s,received_per_s,p50_ms,p99_ms,generator_cpu_percent,published,received',
      '1,4,12,,3,10,4,12',
    ])
  })

  it('is a line for each share of the users where nothing was sent', () => {
    const lines = csvOf({ seconds: [], joinCurve: [[50, 40.1234]] })
    expect(lines).toBe('share_percent,join_ms\n50,40.123\n')
  })

  it('is served to Prometheus', async () => {
    const page = await servePrometheus(0)
    const before = await (await fetch(page.url)).text()
    expect(before).toContain('runnel_bench_delay_p99_milliseconds Nan')
    expect(before).not.toMatch(/ 0$/m)
    page.show({
      atS: 1,
      published: 4,
      received: 12,
      publishedPerS: 4,
      receivedPerS: 12,
      p50Ms: 2,
      p99Ms: undefined,
      cpuShare: 0.5,
    })
    const text = await (await fetch(page.url)).text()
    expect(text).toContain('runnel_bench_received_per_second 12')
    expect(text).toContain('runnel_bench_delay_p99_milliseconds Nan')
    await expect(servePrometheus(Number(new URL(page.url).port))).rejects.toMatchObject({ code: 'USAGE' })
    await page.stop()
  })
})

describe('barsOf', () => {
  it('draws the last values, the largest as high as it goes', () => {
    expect(barsOf([9, 0, 4, 8, undefined], 4)).toBe('▁▄█ ')
    expect(barsOf([], 4)).toBe('')
    expect(barsOf([0, 0], 4)).toBe('▁▁')
  })
})
