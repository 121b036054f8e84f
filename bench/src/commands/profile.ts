import type { CommandModule } from 'yargs'
import { benchError } from '../errors.ts'

const options = {
  out: {
    type: 'string' as const,
    default: '.runnel/profile',
    describe: 'folder for the profiles; before the name',
  },
  json: { type: 'boolean' as const, default: false, describe: 'one line of JSON; before the name' },
}

/** `profile <benchmark> …`: from its name on everything is the benchmark's, which says by when it ends. */
export function profileCommand(benches: readonly CommandModule[], argv: readonly string[]): CommandModule {
  const names = new Set(benches.map(({ command }) => command))
  return {
    command: 'profile <benchmark..>',
    describe:
      'profiles the CPU time and memory of a benchmark, by package and function; its options follow its name',
    builder: options,
    async handler(args) {
      const at = argv.findIndex((word) => names.has(word))
      if (at < 0) throw benchError('INVALID_ARGUMENT', `name one of ${[...names].join(', ')}`)
      const { profileBench, refusedCode } = await import('../profile/profile-bench.ts')
      const report = await profileBench({ words: argv.slice(at), directory: String(args['out']) })
      if (report === undefined) process.exit(refusedCode)
      const isLine = argv.slice(0, at).includes('--json')
      process.stdout.write(`${JSON.stringify(report, null, isLine ? 0 : 2)}\n`)
    },
  }
}
