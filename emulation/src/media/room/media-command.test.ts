import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { commandLine } from '@runnel/sim/command-line'
import type { CommandModule } from 'yargs'
import { emulationError } from '../../errors.ts'
import { mediaCommand } from './media-command.ts'

/** Runs it to its end; the rooms after the first `whole` ones fail. Gives what it printed. */
async function run(words: string, whole: number) {
  let rooms = 0
  const runRoom = ({ arm }: { readonly arm: string }) =>
    rooms++ < whole ? Promise.resolve({ arm, soundP50Ms: 7 }) : Promise.reject(new Error('it broke'))
  const printed: string[] = []
  const stdout = vi
    .spyOn(process.stdout, 'write')
    .mockImplementation((text) => printed.push(String(text)) > 0)
  onTestFinished(() => stdout.mockRestore())
  const refusal = (message: string) => emulationError('INVALID_ARGUMENT', message)
  const line = commandLine(words.split(' '), { name: 'emulate', usage: '', refusal })
  line.add(mediaCommand(new AbortController().signal, { runRoom }) as CommandModule)
  const failure = await line.run().then(
    () => undefined,
    (error: unknown) => error,
  )
  return { failure, printed: printed.join('') }
}

it('keeps the runs that ended when a later one fails, and says that they are not all', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'media-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const { failure, printed } = await run(`media --out ${folder}`, 2)
  expect(failure).toMatchObject({ message: 'it broke' })
  expect(printed).toMatch(/^ +arm +relay +two-relays\n/)
  expect(JSON.parse(readFileSync(join(folder, 'media.json'), 'utf8'))).toMatchObject({
    environment: { partial: '2 of 4 runs' },
    rows: [{ arm: 'relay' }, { arm: 'two-relays' }],
  })
})

it('prints nothing where no run ended, and marks nothing where all did', async () => {
  expect(await run('media --json', 0)).toMatchObject({ printed: '' })
  const { failure, printed } = await run('media --json', 4)
  expect(failure).toBeUndefined()
  expect(printed).not.toContain('partial')
})
