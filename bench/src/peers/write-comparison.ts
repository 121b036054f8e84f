import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFigures } from '@runnel/sim/figures'
import { comparisonFigure } from './comparison-figure.ts'
import { comparisonPage } from './comparison-page.ts'
import type { PeersReport } from './peers-bench.ts'

const docs = join(import.meta.dirname, '../../../docs')

/** Writes COMPARISON.md of a folder, by default docs/, with the figures of a report, and its picture. What is written by hand is kept. */
export async function writeComparison(report: PeersReport, folder = docs): Promise<void> {
  const page = join(folder, 'COMPARISON.md')
  writeFileSync(page, comparisonPage(report, readFileSync(page, 'utf8')))
  await writeFigures(join(folder, 'images'), [comparisonFigure(report.arms, report.settings.perS)], ['svg'])
}
