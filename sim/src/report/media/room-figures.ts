import type { Figure } from '../../figures/write-figures.ts'
import type { RecordRow } from '../../records/record.ts'
import { rowBars, wordOf, type Quantity } from './row-bars.ts'

const quantities: readonly Quantity[] = [
  {
    name: 'delay',
    title: 'Delay in a room: p50, with ticks at p95 and p99',
    yTitle: 'ms',
    parts: {
      sound: ['soundP50Ms', 'soundP95Ms', 'soundP99Ms'],
      pictures: ['pictureP50Ms', 'pictureP95Ms', 'pictureP99Ms'],
    },
  },
  {
    name: 'copies',
    title: 'Copies of each frame that came to a member of a room',
    yTitle: 'copies, the first included',
    parts: { sound: ['soundCopies'], pictures: ['pictureCopies'] },
  },
  {
    name: 'cpu',
    title: 'Processor time of a member of a room',
    yTitle: '% of one processor',
    parts: { '': ['cpuPercent'] },
  },
  {
    name: 'lost',
    title: 'Frames that did not come, and sound made up for what came too late',
    yTitle: '%',
    parts: {
      'sound lost': ['soundLossPercent'],
      'sound concealed': ['concealedPercent'],
      'pictures lost': ['pictureLossPercent'],
    },
  },
  {
    name: 'freezes',
    title: 'Freezes of the pictures of a member in a room',
    yTitle: 'freezes a minute',
    parts: { '': ['freezesPerMinute'] },
  },
]

/** Of rows of `emulate media`: delays, copies, processor time, and what was lost, by arm, size of the room and loss. */
export function roomFigures(name: string, rows: readonly RecordRow[]): Figure[] {
  return rowBars({
    ...{ name, rows, quantities },
    seriesOf: (row) => (row['floods'] === 'full' ? `${wordOf(row, 'arm')}, full floods` : wordOf(row, 'arm')),
    groupOf: (row) => [`${wordOf(row, 'members')} members`, `${wordOf(row, 'lossPercent')} % loss`],
  })
}
