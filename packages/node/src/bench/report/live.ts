import { createLogUpdate } from 'log-update'
import Table from 'cli-table3'
import { notice } from '../../cli/output.ts'
import { plainLayout } from '../../cli/plain-layout.ts'
import type { SecondFigures } from '../load/seconds.ts'
import { barsOf } from './chart.ts'
import { percent, short } from '../core/figures.ts'

/** Seconds in the table. */
const rows = 5
/** Seconds in the chart. */
const chartWidth = 60

/** Shows how a run is doing: on a terminal a table and a chart that redraw themselves, elsewhere a line for each phase. On standard error. */
export class LiveView {
  /** A terminal that says it has no lines could show nothing. */
  readonly #redraw =
    process.stderr.isTTY && process.stderr.rows > 0 ? createLogUpdate(process.stderr) : undefined
  #seconds: SecondFigures[] = []
  #phase = ''

  phase(text: string): void {
    this.#phase = text
    if (this.#redraw) this.#draw()
    else notice(text)
  }

  second(second: SecondFigures): void {
    this.#seconds = [...this.#seconds, second].slice(-chartWidth)
    this.#draw()
  }

  /** Leaves the last picture, and begins anew. */
  end(): void {
    this.#redraw?.done()
    this.#seconds = []
  }

  #draw(): void {
    this.#redraw?.(liveText(this.#phase, this.#seconds))
  }
}

/** What a terminal shows while a run goes on. */
export function liveText(phase: string, seconds: readonly SecondFigures[]): string {
  if (seconds.length === 0) return phase
  const table = new Table({ ...plainLayout, head: ['s', 'sent/s', 'received/s', 'p50 ms', 'p99 ms', 'CPU'] })
  for (const { atS, publishedPerS, receivedPerS, p50Ms, p99Ms, cpuShare } of seconds.slice(-rows))
    table.push([
      ...[atS.toFixed(0), short(publishedPerS), short(receivedPerS)],
      ...[p50Ms, p99Ms].map((ms) => (ms === undefined ? '–' : short(ms))),
      percent(cpuShare * 100),
    ])
  const p99 = seconds.map(({ p99Ms }) => p99Ms)
  const received = seconds.map(({ receivedPerS }) => receivedPerS)
  return [
    phase,
    table.toString().replace(/ +$/gm, ''),
    `p99       ${barsOf(p99, chartWidth)}  up to ${short(Math.max(0, ...p99.map((ms) => ms ?? 0)))} ms`,
    `received  ${barsOf(received, chartWidth)}  up to ${short(Math.max(0, ...received))}/s`,
  ].join('\n')
}
