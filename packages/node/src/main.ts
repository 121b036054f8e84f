import { ownVersion } from './cli/own-version.ts'
import { keepOldGenerationTight, keepYoungGenerationSmall } from './heap-growth.ts'

const argv = process.argv.slice(2)

// Before anything else is loaded, which would make it grow. A node lets it grow again once it runs.
if (argv[0] === 'tracker' || argv[0] === 'node') keepYoungGenerationSmall()
if (argv[0] === 'tracker') keepOldGenerationTight()

try {
  // Before anything else is loaded: whoever asks for the version alone waits for nothing else.
  if (argv.length === 1 && argv[0] === '--version') {
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      void import('./cli/output.ts').then(({ tellOfFailure }) => tellOfFailure(error))
    })
    process.stdout.write(`${ownVersion()}\n`)
  } else await (await import('./cli/run-program.ts')).runProgram(argv)
} finally {
  // The channel to a supervisor would keep this process alive.
  if (process.connected) process.disconnect()
}
