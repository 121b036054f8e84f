import { describeError, errorLine } from './cli/describe-error.ts'
import { exitCodeFor } from './cli/exit-codes.ts'
import { runCommandLine } from './cli/parser.ts'
import { commands } from './commands/index.ts'

const argv = process.argv.slice(2)

try {
  await runCommandLine(argv, commands)
} catch (error) {
  const described = describeError(error)
  const json = argv.includes('--json')
  process.stderr.write(`${json ? JSON.stringify({ error: described }) : `runnel: ${errorLine(described)}`}\n`)
  if (argv.join(' ').match(/--log-level[ =]debug/) && error instanceof Error) {
    process.stderr.write(`${error.stack ?? ''}\n`)
  }
  process.exitCode = exitCodeFor(described.code)
}
