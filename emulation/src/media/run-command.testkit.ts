import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandLine } from '@runnel/sim/command-line'
import { onTestFinished, vi } from 'vitest'
import type { CommandModule } from 'yargs'
import { emulationError } from '../errors.ts'

/** Runs the words with one command to its end. Gives what it printed, and what it failed of. */
export async function runCommand<Args>(command: CommandModule<object, Args>, words: string) {
  const printed: string[] = []
  const stdout = vi
    .spyOn(process.stdout, 'write')
    .mockImplementation((text) => printed.push(String(text)) > 0)
  onTestFinished(() => stdout.mockRestore())
  const refusal = (message: string) => emulationError('INVALID_ARGUMENT', message)
  const line = commandLine(words.split(' '), { name: 'emulate', usage: '', refusal })
  line.add(command as CommandModule)
  const failure = await line.run().then(
    () => undefined,
    (error: unknown) => error,
  )
  return { failure, printed: printed.join('') }
}

/** A folder for results, removed when the test has ended. */
export function resultsFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'media-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}
