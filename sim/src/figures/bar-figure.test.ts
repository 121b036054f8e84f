import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { barFigure, type Bar } from './bar-figure.ts'
import { writeFigures } from './write-figures.ts'

/** The SVG of these bars. */
async function drawn(bars: readonly Bar[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'figures-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const figure = barFigure({ name: 'bars', title: 'Bars', xTitle: '', yTitle: 'ms', bars })
  const [svg = ''] = await writeFigures(folder, [figure])
  return readFileSync(svg, 'utf8')
}

const countOf = (svg: string, mark: string): number => svg.split(`aria-roledescription="${mark}"`).length - 1
const widthOf = (svg: string): number => Number(/<svg[^>]* width="(\d+)/.exec(svg)?.[1])

it('draws a line and a tick to each value above a bar, beside bars that have none', async () => {
  const svg = await drawn([
    { x: 'sound', y: 40, series: 'relay', ticks: [60, 90] },
    { x: 'sound', y: 50, series: 'random' },
  ])
  expect(['bar', 'rule mark', 'tick'].map((mark) => countOf(svg, mark))).toEqual([2, 2, 2])
  expect(svg).toContain('random')
})

it('writes the lines of a group below each other, and is wide enough for all of them', async () => {
  const some = Array.from({ length: 12 }, (_, i) => ({
    x: `sound concealed\n${i} % loss`,
    y: i,
    series: 'a',
  }))
  const svg = await drawn(some)
  expect(svg).toContain('>sound concealed</tspan>')
  expect(svg).toContain('>11 % loss</tspan>')
  expect(widthOf(svg)).toBeGreaterThan(12 * 90)
  expect(widthOf(await drawn(some.slice(0, 2)))).toBeLessThan(700)
})

it('has an axis from 0 to 1 where all is 0', async () => {
  const svg = await drawn([{ x: 'a', y: 0, series: 'relay', ticks: [0] }])
  expect(svg).toContain('>0.5</text>')
  expect(await drawn([{ x: 'a', y: 0, series: 'relay', ticks: [40] }])).toContain('>30</text>')
})
