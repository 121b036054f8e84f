import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lineFigure } from './line-figure.ts'
import { writeFigures } from './write-figures.ts'

it('writes each figure as SVG and as PNG', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'figures-'))
  try {
    const points = [1, 2, 4].map((x) => ({ x, y: x * x, series: 'squares', low: x, high: x * 20 }))
    const figure = lineFigure({ name: 'squares', title: 'Squares', xTitle: 'x', yTitle: 'y', points })
    const paths = await writeFigures(join(folder, 'new'), [figure])
    expect(paths.map((path) => path.slice(-11))).toEqual(['squares.svg', 'squares.png'])
    const [svg, png] = paths.map((path) => readFileSync(path))
    expect(svg?.toString()).toContain('Squares')
    expect(png?.subarray(1, 4).toString()).toBe('PNG')
    expect(png?.readUInt32BE(16)).toBeGreaterThan(480)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
