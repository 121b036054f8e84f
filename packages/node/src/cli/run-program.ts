import { loadCommands } from '../commands/index.ts'
import { errorLine } from './error-line.ts'
import { exitCodeFor } from './exit-codes.ts'
import { standardOutput } from './output.ts'
import { runCommandLine } from './parser.ts'
import { printable } from './printable.ts'

/** Runs a command line; what it throws becomes one line on stderr and the exit code. Never rejects. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  // Whoever reads them may go before a command ends: what it prints then is lost, and no error of its own.
  standardOutput()
  process.stderr.on('error', () => {})
  try {
    await runCommandLine(argv, await loadCommands(argv))
  } catch (error) {
    // Loaded when needed only: it knows the errors of every package.
    const { describeError } = await import('./describe-error.ts')
    const described = describeError(error)
    const json = argv.includes('--json')
    process.stderr.write(
      `${json ? JSON.stringify({ error: described }) : `runnel: ${errorLine(described)}`}\n`,
    )
    if (argv.join(' ').match(/--log-level[ =]debug/) && error instanceof Error) {
      const stack = error.stack?.split('\n') ?? []
      process.stderr.write(`${stack.map(printable).join('\n')}\n`)
    }
    process.exitCode = exitCodeFor(described.code)
  }
}
