import type { Figure } from '../../figures/write-figures.ts'
import type { RecordRow } from '../../records/record.ts'
import { rowBars, wordOf, type Quantity } from './row-bars.ts'

const quantities: readonly Quantity[] = [
  {
    name: 'delay',
    title: 'Delay from page to page: p50, with a tick at p95',
    yTitle: 'ms',
    parts: { sound: ['soundP50Ms', 'soundP95Ms'], pictures: ['pictureP50Ms', 'pictureP95Ms'] },
  },
  {
    name: 'freezes',
    title: 'Freezes of the pictures in a page',
    yTitle: 'freezes a minute',
    parts: { '': ['freezesPerMinute'] },
  },
  {
    name: 'concealed',
    title: 'Sound that a page made up for what came too late',
    yTitle: '%',
    parts: { '': ['concealedPercent'] },
  },
]

/** Of rows of `emulate media-glass`: delays from glass to glass, freezes, and concealed sound, by arm and loss. */
export function glassFigures(name: string, rows: readonly RecordRow[]): Figure[] {
  return rowBars({
    ...{ name, rows, quantities },
    seriesOf: (row) => wordOf(row, 'arm'),
    groupOf: (row) => [`${wordOf(row, 'watching')} watching`, `${wordOf(row, 'lossPercent')} % loss`],
  })
}
