import type { RunReport } from './run-report.ts'
import type { Found } from '../core/ramp.ts'
import { lossText } from '../core/loss.ts'
import { escapeHtml, svgOf, type Plot } from './plot.ts'
import { lossPercentText, reportText, short } from './text.ts'

const style = `
:root { color-scheme: light dark; --line: #8884; --a: #1769aa; --b: #c2410c; --bad: #b91c1c; --good: #15803d }
@media (prefers-color-scheme: dark) { :root { --a: #7ab8f5; --b: #fb923c; --bad: #f87171; --good: #4ade80 } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 760px; margin: 2rem auto; padding: 0 1rem }
svg { width: 100%; height: auto; margin: 1rem 0 }
svg polyline, svg line { fill: none; stroke-width: 2 } .line0 { stroke: var(--a) } .line1 { stroke: var(--b) }
svg .grid { stroke: var(--line); stroke-width: 1 } svg text { fill: currentColor } .axis { font-size: 11px; opacity: .75 }
.title { font-size: 13px; font-weight: 600 } table { border-collapse: collapse; width: 100% }
td, th { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top }
.bad { color: var(--bad) } .good { color: var(--good) } pre { overflow: auto }`

/** What a search for the largest load adds to the report of that load. */
export interface FindReport {
  /** What was found, for people. */
  readonly lines: readonly string[]
  readonly found: Found
}

/** A report as one page that needs nothing else: figures, plots, and what may be doubted. */
export function reportPage(report: RunReport, find?: FindReport): string {
  const title = `runnel bench ${report.title}, ${report.startedAt}`
  const { aims, doubts } = report
  const verdict = [...doubts.map(({ text }) => text), lossText(report.losses)].filter(
    (text) => text !== undefined,
  )
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title>
<style>${style}</style>
<h1>runnel bench ${escapeHtml(report.title)}</h1>
<p>${escapeHtml(report.startedAt)} · ${escapeHtml(report.network)} · ${escapeHtml(loadText(report))}</p>
${aims.length + verdict.length === 0 ? '' : '<h2>Verdict</h2>'}
<ul>
${aims.map(({ aim, met, measured }) => `<li class="${met ? 'good' : 'bad'}">${met ? 'met' : 'missed'}: ${escapeHtml(aim)} (${measured === undefined ? 'not measured' : short(measured)})`).join('\n')}
${verdict.map((text) => `<li class="bad">${escapeHtml(text)}`).join('\n')}
</ul>
${plotsOf(report).map(svgOf).join('\n')}
<h2>Figures</h2>
<pre>${escapeHtml([reportText(report), ...(find?.lines ?? [])].join('\n'))}</pre>
<h2>Settings</h2>
<table>${settingsOf(report)
    .map(([name, value]) => `<tr><th>${escapeHtml(name)}<td>${escapeHtml(value)}`)
    .join('\n')}</table>
</html>
`
}

function loadText({ plan, intendedPerS, times }: RunReport): string {
  const sent =
    intendedPerS === 0 ? '' : `, ${short(intendedPerS)} messages a second for ${times.durationMs / 1000} s`
  return `${plan.clients} ${plan.kind} users in ${plan.parts.length} overlays${sent}`
}

function plotsOf({ curve, seconds }: RunReport): readonly Plot[] {
  const overTime = (of: (second: RunReport['seconds'][number]) => number | undefined) =>
    seconds.flatMap((second) => {
      const y = of(second)
      return y === undefined ? [] : [[second.atS, y] as const]
    })
  const plots: readonly Plot[] = [
    {
      ...{ title: 'Delays', xName: 'share of the messages, %', yName: 'ms' },
      // Each nine takes the same room: what matters is at the right end.
      lines: [{ name: 'delay', points: curve.map(([share, ms]) => [ninesOf(share), ms] as const) }],
      xMarks: [0, 50, 90, 99, 99.9].map((share) => [ninesOf(share), `${share}`] as const),
    },
    {
      ...{ title: 'Delay over time', xName: 's', yName: 'ms' },
      lines: [
        { name: 'p50', points: overTime(({ p50Ms }) => p50Ms) },
        { name: 'p99', points: overTime(({ p99Ms }) => p99Ms) },
      ],
    },
    {
      ...{ title: 'Messages a second', xName: 's', yName: '1/s' },
      lines: [
        { name: 'sent', points: overTime(({ publishedPerS }) => publishedPerS) },
        { name: 'received', points: overTime(({ receivedPerS }) => receivedPerS) },
      ],
    },
    {
      ...{ title: 'CPU time of the busiest generator, % of a core', xName: 's', yName: '%' },
      lines: [{ name: 'CPU', points: overTime(({ cpuShare }) => cpuShare * 100) }],
    },
  ]
  return plots.filter(({ lines }) => lines.some(({ points }) => points.length > 1))
}

/** 0 for 0 %, 1 for 90 %, 2 for 99 %; the last message stands at four nines. */
function ninesOf(sharePercent: number): number {
  return Math.min(4, -Math.log10(1 - sharePercent / 100))
}

function settingsOf({
  members,
  plan,
  times,
  lossPercent,
  settledInMs,
  generators,
}: RunReport): (readonly [string, string])[] {
  return [
    ['users', `${plan.clients} ${plan.kind}, linked by ${plan.links}, floods ${plan.floods}`],
    ['publishers of an overlay', `${Math.min(members, plan.publishersPerPart)} of ${members}`],
    ...plan.flows.map(
      ({ name, ratePerS, sizeBytes, urgent }) =>
        [name, `${ratePerS}/s of ${sizeBytes} bytes each${urgent ? ', urgent' : ''}`] as const,
    ),
    ['joining', `${plan.connectPerS} users a second; settled in ${short(settledInMs)} ms`],
    ['warm-up', `${times.warmupMs} ms, not measured`],
    ['measured', `${times.durationMs} ms, by ${generators.length} generators`],
    ['lost', lossPercentText(lossPercent)],
  ]
}
