import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { resultsFolder, runCommand } from '../run-command.testkit.ts'
import { mediaCommand } from './media-command.ts'

/** Runs it to its end; the rooms after the first `whole` ones fail. */
function run(words: string, whole: number) {
  let rooms = 0
  const runRoom = ({ arm }: { readonly arm: string }) =>
    rooms++ < whole ? Promise.resolve({ arm, soundP50Ms: 7 }) : Promise.reject(new Error('it broke'))
  return runCommand(mediaCommand(new AbortController().signal, { runRoom }), words)
}

it('keeps and draws the runs that ended when a later one fails, and says that they are not all', async () => {
  const folder = resultsFolder()
  const { failure, printed } = await run(`media --out ${folder}`, 2)
  expect(failure).toMatchObject({ message: 'it broke' })
  expect(printed).toMatch(/^ +arm +relay +two-relays\n/)
  expect(JSON.parse(readFileSync(join(folder, 'media.json'), 'utf8'))).toMatchObject({
    environment: { partial: '2 of 4 runs' },
    rows: [{ arm: 'relay' }, { arm: 'two-relays' }],
  })
  expect(readdirSync(folder)).toEqual(['media-delay.png', 'media-delay.svg', 'media.json'])
  expect(readFileSync(join(folder, 'media-delay.svg'), 'utf8')).toContain('two-relays')
})

it('prints nothing where no run ended, and marks nothing where all did', async () => {
  expect(await run('media --json', 0)).toMatchObject({ printed: '' })
  const { failure, printed } = await run('media --json', 4)
  expect(failure).toBeUndefined()
  expect(printed).not.toContain('partial')
})
