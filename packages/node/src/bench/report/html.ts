import { lossText } from '../core/loss.ts'
import { counted, short } from '../core/figures.ts'
import { measuredText } from '../core/aims.ts'
import type { Found } from '../core/ramp.ts'
import { escapeHtml, svgOf, type Plot } from './plot.ts'
import { loadPlots, plotsOf } from './plots.ts'
import type { RunReport } from './run-report.ts'
import { style } from './style.ts'
import { delaysText, linesText, lossPercentText } from './text.ts'

/** What a search for the largest load adds to the report of that load. */
export interface FindReport {
  /** What was found, for people. */
  readonly lines: readonly string[]
  readonly found: Found
}

/** A report as one page that needs nothing else: figures, plots, and what may be doubted. */
export function reportPage(report: RunReport, find?: FindReport): string {
  const title = `runnel bench ${report.title}, ${report.startedAt}`
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title>
<style>${style}</style>
<h1>runnel bench ${escapeHtml(report.title)}</h1>
<p>${escapeHtml(report.startedAt)} · ${escapeHtml(report.network)} · ${escapeHtml(loadText(report))}</p>
${verdictHtml(report)}
${find === undefined ? '' : foundHtml(find)}
${plotsHtml(plotsOf(report))}
<h2>Figures</h2>
<pre class="wide">${escapeHtml(delaysText(report))}</pre>
<pre>${escapeHtml(linesText(report).join('\n'))}</pre>
<h2>Settings</h2>
<table>${settingsOf(report)
    .map(([name, value]) => `<tr><th>${escapeHtml(name)}<td>${escapeHtml(value)}`)
    .join('\n')}</table>
</html>
`
}

function verdictHtml({ aims, doubts, losses }: RunReport): string {
  const verdict = [...doubts.map(({ text }) => text), lossText(losses)].filter((text) => text !== undefined)
  const items = [
    ...aims.map(
      (result) => [result.met, `${result.met ? 'met' : 'missed'}: ${measuredText(result)}`] as const,
    ),
    ...verdict.map((text) => [false, text] as const),
  ]
  if (items.length === 0) return ''
  const list = items.map(([isGood, text]) => `<li class="${isGood ? 'good' : 'bad'}">${escapeHtml(text)}`)
  return `<h2>Verdict</h2>\n<ul>\n${list.join('\n')}\n</ul>`
}

function foundHtml({ lines, found: { ramp, tried } }: FindReport): string {
  const name = ramp === 'clients' ? 'users' : 'messages a second of each publisher'
  const rows = tried.map(
    ({ load, met, text, p99Ms }) =>
      `<tr><td>${short(load)}<td>${p99Ms === undefined ? '–' : short(p99Ms)}<td class="${met ? 'good' : 'bad'}">${escapeHtml(text)}`,
  )
  return `<h2>Loads tried</h2>
${lines.map((line) => `<p>${escapeHtml(line)}`).join('\n')}
<table><tr><th>${name}<th>p99 ms<th>verdict\n${rows.join('\n')}</table>
${plotsHtml(loadPlots(name, tried))}
<h2>The largest that was met, or else the first</h2>`
}

const plotsHtml = (plots: readonly Plot[]): string =>
  plots.map((plot) => `<div class="plot">${svgOf(plot)}</div>`).join('\n')

function loadText({ plan, intendedPerS, times }: RunReport): string {
  const sent =
    intendedPerS === 0 ? '' : `, ${short(intendedPerS)} messages a second for ${times.durationMs / 1000} s`
  const users = counted(plan.clients, `${plan.kind} user`)
  return `${users} in ${counted(plan.parts.length, 'overlay')}${sent}`
}

function sendingOf({ warmupMs, durationMs }: RunReport['times']): (readonly [string, string])[] {
  return [
    ['warm-up', `${warmupMs} ms, not measured`],
    ['measured', `${durationMs} ms`],
  ]
}

function settingsOf(report: RunReport): (readonly [string, string])[] {
  const { members, plan, times, lossPercent, settledInMs, generators, machine } = report
  return [
    ['options', `runnel bench ${report.title} ${report.options}`],
    ['versions', `Runnel ${machine.runnel}, Node ${machine.node}`],
    ['machine', `${counted(machine.cores, 'core')} of ${machine.cpu}, ${machine.system}`],
    ['users', `${plan.clients} ${plan.kind}, linked by ${plan.links}, floods ${plan.floods}`],
    ['publishers of an overlay', `${Math.min(members, plan.publishersPerPart)} of ${members}`],
    ...plan.flows.map(
      ({ name, ratePerS, sizeBytes, urgent }) =>
        [name, `${ratePerS}/s of ${sizeBytes} bytes each${urgent ? ', urgent' : ''}`] as const,
    ),
    ['joining', `${plan.connectPerS} users a second; settled in ${short(settledInMs)} ms`],
    ...(times.durationMs === 0 ? [] : sendingOf(times)),
    ['generators', `${generators.length}`],
    ['lost', lossPercentText(lossPercent)],
  ]
}
