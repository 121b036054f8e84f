import { errorLine } from './cli/error-line.ts'
import { exitCodeFor } from './cli/exit-codes.ts'
import { runCommandLine } from './cli/parser.ts'
import { printable } from './cli/printable.ts'
import { loadCommands } from './commands/index.ts'

const argv = process.argv.slice(2)

try {
  await runCommandLine(argv, await loadCommands(argv))
} catch (error) {
  // Loaded when needed only: it knows the errors of every package.
  const { describeError } = await import('./cli/describe-error.ts')
  const described = describeError(error)
  const json = argv.includes('--json')
  process.stderr.write(`${json ? JSON.stringify({ error: described }) : `runnel: ${errorLine(described)}`}\n`)
  if (argv.join(' ').match(/--log-level[ =]debug/) && error instanceof Error) {
    const stack = error.stack?.split('\n') ?? []
    process.stderr.write(`${stack.map(printable).join('\n')}\n`)
  }
  process.exitCode = exitCodeFor(described.code)
} finally {
  // The channel to a supervisor would keep this process alive.
  if (process.connected) process.disconnect()
}
