import type { Figure } from './write-figures.ts'

export interface Bar {
  /** What its group is called, in one or more lines. */
  readonly x: string
  readonly y: number
  readonly series: string
  /** Values above the bar, as of rarer cases: each is a tick on a line from the bar. */
  readonly ticks?: readonly number[]
}

export interface BarFigureOptions {
  readonly name: string
  readonly title: string
  readonly xTitle: string
  readonly yTitle: string
  readonly bars: readonly Bar[]
}

const usualWidth = 480
/** Of a bar, and of a character beneath a group, where there are so many that the usual width is not enough. */
const [leastBarWidth, characterWidth] = [10, 6.5]
/** Lines have room beneath their group, and are not turned. */
const linesAxis = { labelAngle: 0, labelExpr: "split(datum.label, '\\n')" } as const

/** Bars in groups, one shade for each series. */
export function barFigure({ name, title, xTitle, yTitle, bars }: BarFigureOptions): Figure {
  const series = { field: 'series', type: 'nominal', title: null, sort: null } as const
  const hasLines = bars.some(({ x }) => x.includes('\n'))
  const axis = hasLines ? linesAxis : {}
  const x = { field: 'x', type: 'nominal', title: xTitle, sort: null, axis } as const
  const xOffset = { field: 'series', type: 'nominal', sort: null } as const
  // Without a height of its own, an axis of nothing but 0 would have it in the middle.
  const scale = bars.every(({ y, ticks: some = [] }) => y === 0 && some.every((tick) => tick === 0))
    ? { domainMax: 1 }
    : {}
  const yOf = (field: string) => ({ field, type: 'quantitative', title: yTitle, stack: null, scale }) as const
  const ticks = bars.flatMap(({ ticks: some = [], ...bar }) => some.map((tick) => ({ ...bar, tick })))
  // From dark to light: also told apart in grey.
  const color = { ...series, scale: { scheme: 'viridis' } } as const
  return {
    name,
    spec: {
      title,
      width: Math.max(usualWidth, leastBarWidth * bars.length, hasLines ? widthOfGroups(bars) : 0),
      height: 300,
      data: { values: bars.map(({ ticks: _, ...bar }) => bar) },
      layer: [
        { mark: 'bar', encoding: { x, xOffset, y: yOf('y'), color } },
        {
          data: { values: ticks },
          mark: { type: 'rule', color: 'black' },
          encoding: { x, xOffset, y: yOf('y'), y2: { field: 'tick' } },
        },
        {
          data: { values: ticks },
          mark: { type: 'tick', color: 'black', size: leastBarWidth / 2, thickness: 1.5 },
          encoding: { x, xOffset, y: yOf('tick') },
        },
      ],
    },
  }
}

/** Such that no line beneath a group reaches into the next. */
function widthOfGroups(bars: readonly Bar[]): number {
  const groups = new Set(bars.map(({ x }) => x))
  const characters = [...groups].flatMap((x) => x.split('\n').map((line) => line.length))
  return groups.size * (1 + Math.max(...characters)) * characterWidth
}
