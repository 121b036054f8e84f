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
    this.#redraw?.(liveText(this.#phase, this.#seconds, process.stderr.columns || 80))
  }
}

type Cell = (second: SecondFigures) => string

const timeCell = (ms: number | undefined): string => (ms === undefined ? '–' : short(ms))
const cells = {
  s: ({ atS }) => atS.toFixed(0),
  'sent/s': ({ publishedPerS }) => short(publishedPerS),
  'received/s': ({ receivedPerS }) => short(receivedPerS),
  'p50 ms': ({ p50Ms }) => timeCell(p50Ms),
  'p99 ms': ({ p99Ms }) => timeCell(p99Ms),
  CPU: ({ cpuShare }) => percent(cpuShare * 100),
} as const satisfies Record<string, Cell>
/** What is left out first where a terminal is narrow. */
const leastFirst: readonly string[] = ['CPU', 'p50 ms', 'sent/s', 'received/s']

/** What a terminal of so many columns shows while a run goes on. */
export function liveText(phase: string, seconds: readonly SecondFigures[], columns: number): string {
  if (seconds.length === 0) return phase
  const [p99, received] = [seconds.map(({ p99Ms }) => p99Ms), seconds.map((one) => one.receivedPerS)]
  const bars = [
    { name: 'p99', values: p99, unit: ' ms' },
    { name: 'received', values: received, unit: '/s' },
  ].map((row) => barsText(row, columns))
  const lines = [phase, ...tableLines(seconds.slice(-rows), columns), ...bars]
  return lines.map((line) => line.slice(0, columns)).join('\n')
}

function tableLines(seconds: readonly SecondFigures[], columns: number): readonly string[] {
  for (let out = 0; ; out++) {
    const shown = Object.entries<Cell>(cells).filter(([name]) => !leastFirst.slice(0, out).includes(name))
    const table = new Table({ ...plainLayout, head: shown.map(([name]) => name) })
    for (const second of seconds) table.push(shown.map(([, cellOf]) => cellOf(second)))
    const lines = table.toString().replace(/ +$/gm, '').split('\n')
    if (out === leastFirst.length || lines.every((line) => line.length <= columns)) return lines
  }
}

interface BarsRow {
  readonly name: string
  readonly values: readonly (number | undefined)[]
  readonly unit: string
}

/** As many bars as there is room for. */
function barsText({ name, values, unit }: BarsRow, columns: number): string {
  const most = Math.max(0, ...values.map((value) => value ?? 0))
  const [head, end] = [name.padEnd(10), `  up to ${short(most)}${unit}`]
  const room = Math.max(1, columns - head.length - end.length)
  return `${head}${barsOf(values, Math.min(chartWidth, room))}${end}`
}
