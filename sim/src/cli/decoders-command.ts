import type { CommandModule } from 'yargs'
import { inChildren, maxJobs } from '../processes/in-children.ts'
import type { DecodersReport, DecodersTask } from '../scenarios/decoders/decoders-run.ts'
import { wholeNumbers } from './arguments.ts'
import { showProgress } from './progress.ts'
import { beginBound, minutesOption } from './time-bound.ts'

interface DecodersArguments {
  readonly packets: number
  readonly from: number
  readonly jobs: number
  readonly minutes: number
  readonly json: boolean
}

const framesAtATime = 50_000
const maxPackets = 1_000_000_000
const decodersChild = new URL('./decoders-child.ts', import.meta.url)

export const decodersCommand: CommandModule<object, DecodersArguments> = {
  command: 'decoders',
  describe:
    'mutated packets and frames: does every decoder give a packet or a coded error, and nothing else?',
  builder: {
    packets: { type: 'number', default: 1_000_000, describe: 'mutated packets and frames' },
    from: { type: 'number', default: 1, describe: `the first seed; there is one for each ${framesAtATime}` },
    jobs: { type: 'number', default: 1, describe: 'processes to run them in' },
    ...minutesOption(1_440),
    json: { type: 'boolean', default: false, describe: 'one line of JSON' },
  },
  handler: async ({ packets, from, jobs, minutes, json }) => {
    wholeNumbers({ packets, from }, maxPackets)
    wholeNumbers({ jobs }, maxJobs)
    beginBound({ minutes })
    const total = { frames: 0, packets: 0, mostBufferBytes: 0 }
    const refused: Record<string, number> = {}
    const faults: object[] = []
    const tasks = tasksOf(packets, from)
    for await (const report of inChildren<DecodersTask, DecodersReport>(decodersChild, tasks, {
      jobs,
      minutes,
    })) {
      total.frames += report.frames
      total.packets += report.packets
      total.mostBufferBytes = Math.max(total.mostBufferBytes, report.mostBufferBytes)
      for (const [code, count] of Object.entries(report.refused)) refused[code] = (refused[code] ?? 0) + count
      for (const fault of report.faults) faults.push({ seed: report.seed, ...fault })
      showProgress(`${total.frames} of ${packets}, ${faults.length} faults`)
    }
    showProgress('')
    const figures = { experiment: 'decoders', ...total, refused, faults }
    process.stdout.write(`${JSON.stringify(figures, null, json ? 0 : 2)}\n`)
    process.exitCode = faults.length === 0 ? 0 : 1
  },
}

function* tasksOf(packets: number, from: number): Iterable<DecodersTask> {
  for (let left = packets, seed = from; left > 0; left -= framesAtATime, seed++)
    yield { seed, frames: Math.min(framesAtATime, left) }
}
