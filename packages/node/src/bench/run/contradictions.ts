import { resolve } from 'node:path'
import { benchOptions, type BenchArguments } from '../../commands/bench-options.ts'
import { nodeError } from '../../errors.ts'
import { usesGateway } from '../core/plan.ts'

type Arguments = BenchArguments & { readonly room?: number | undefined }

/** Options that others leave without effect, when they do, and what to do. */
const contradictions: readonly (readonly [
  options: readonly (keyof typeof benchOptions)[],
  isIdle: (args: Arguments) => boolean,
  why: string,
])[] = [
  [
    ['stream', 'gateway', 'key', 'as', 'reading-key'],
    ({ network }) => network === undefined,
    'is for a network that runs: give --network',
  ],
  [
    ['nodes', 'encrypt'],
    ({ network }) => network !== undefined,
    'is for a network that the bench starts: leave out --network',
  ],
  [['processes'], ({ worker }) => worker !== undefined, 'starts workers here: leave out --worker'],
  [['links', 'floods'], ({ users }) => users !== 'light', 'is for --users light'],
  [['gateway'], ({ users }) => !usesGateway(users), 'is for --users http or mqtt'],
  [['streams'], ({ room }) => room !== undefined, 'has no effect beside --room'],
]

/** An option without effect would be ignored without a word. Throws USAGE. */
export function requireNoContradiction(args: Arguments): void {
  for (const [options, isIdle, why] of contradictions) {
    const idle = isIdle(args) ? options.find((option) => isGiven(args, option)) : undefined
    if (idle !== undefined) throw nodeError('USAGE', `--${idle} ${why}`)
  }
  const { csv, report } = args
  if (csv !== undefined && report !== undefined && resolve(csv) === resolve(report))
    throw nodeError('USAGE', `--csv and --report name the same file: ${csv}`)
}

/** What is the same as the default has no other effect either. */
function isGiven(args: Arguments, option: keyof typeof benchOptions): boolean {
  const { [option]: declared } = benchOptions
  return args[option] !== undefined && args[option] !== ('default' in declared ? declared.default : undefined)
}
