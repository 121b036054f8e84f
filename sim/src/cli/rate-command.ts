import type { CommandModule } from 'yargs'
import { fallingLine, runRate, type RateReport } from '../scenarios/rate.ts'
import { textTable } from '../report/text-table.ts'
import { showProgress } from './progress.ts'
import { beginBound, minutesOption } from './time-bound.ts'

interface RateArguments {
  readonly seed: string
  readonly minutes: number
  readonly json: boolean
}

/** Of source 002, one way. */
const latenciesMs = [1, 50, 150, 300]
const seconds = 120

export const rateCommand: CommandModule<object, RateArguments> = {
  command: 'rate',
  describe: 'video over a 1 Mbit/s link that drops to 500 kbit/s from 30 to 60 s: throughput and delay',
  builder: {
    seed: { type: 'string', default: '1', describe: 'same seed, same run' },
    ...minutesOption(60),
    json: { type: 'boolean', default: false, describe: 'one line of JSON' },
  },
  handler: async ({ seed, minutes, json }) => {
    const onProgress = beginBound({ minutes })
    const rows: (string | number)[][] = []
    for (const bulk of [false, true])
      for (const latencyMs of latenciesMs) {
        const options = { seed, latencyMs, bulk, relayed: false, kbitPerS: fallingLine, seconds }
        const report = await runRate(options, onProgress)
        showProgress('')
        const figures = figuresOf(report)
        if (json) process.stdout.write(`${JSON.stringify({ latencyMs, bulk, ...figures, ...report })}\n`)
        else rows.push([latencyMs, bulk ? 'yes' : 'no', ...Object.values(figures)])
      }
    const head = [
      'ms one way',
      'bulk',
      'first',
      'low',
      'again',
      'back after s',
      'waited p95 ms',
      'base %',
      'all %',
    ]
    if (!json) process.stdout.write(`${textTable(head, rows)}\n`)
  },
}

/** Parts of the line that the pictures took in each phase, and the rest of a row. */
function figuresOf({ seconds: all, arrived }: RateReport) {
  const used = (from: number, to: number): number => {
    const part = all.slice(from, to)
    const [pictures, line] = [
      part.reduce((sum, { pictureKbitPerS }) => sum + pictureKbitPerS, 0),
      part.reduce((sum, { lineKbitPerS }) => sum + lineKbitPerS, 0),
    ]
    return round(pictures / line)
  }
  const steady = [...all.slice(10, 30), ...all.slice(40, 60), ...all.slice(70)]
  const before = all.slice(10, 30).reduce((sum, { pictureKbitPerS }) => sum + pictureKbitPerS, 0) / 20
  const back = all.slice(60).findIndex(({ pictureKbitPerS }) => pictureKbitPerS >= 0.9 * before)
  const waitedMs = steady.map(({ waitedP95Ms }) => waitedP95Ms).sort((a, b) => a - b)
  return {
    first: used(10, 30),
    low: used(40, 60),
    again: used(70, seconds),
    backAfterS: back < 0 ? Infinity : back + 1,
    waitedP95Ms: waitedMs[Math.floor(waitedMs.length / 2)] ?? Infinity,
    basePercent: round(100 * arrived.base),
    allPercent: round((100 * (arrived.base + arrived.middle + 2 * arrived.top)) / 4),
  }
}

const round = (value: number): number => Math.round(value * 100) / 100
