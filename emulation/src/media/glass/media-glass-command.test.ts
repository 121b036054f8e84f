import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { resultsFolder, runCommand } from '../run-command.testkit.ts'
import { mediaGlassCommand, requireMeasured } from './media-glass-command.ts'

it('takes rows with delays, and names arms that have none', () => {
  const row = { arm: 'relay', pictureP50Ms: 120, soundP50Ms: 130 }
  requireMeasured([row])
  expect(() => requireMeasured([row, { arm: 'overlay', pictureP50Ms: null, soundP50Ms: null }])).toThrow(
    expect.objectContaining({
      code: 'NOTHING_MEASURED',
      message: expect.stringContaining(
        'overlay: no picture was shown; overlay: no click was heard',
      ) as string,
    }),
  )
})

it('keeps and draws the runs that ended when it is stopped', async () => {
  const stop = new AbortController()
  const runGlass = async ({ arm }: { readonly arm: string }, _: unknown, signal: AbortSignal) => {
    if (arm === 'relay') stop.abort(new Error('stopped'))
    signal.throwIfAborted()
    return Promise.resolve({ arm, pictureP50Ms: 120, soundP50Ms: null })
  }
  const folder = resultsFolder()
  const { failure } = await runCommand(
    mediaGlassCommand(stop.signal, { runGlass }),
    `media-glass --out ${folder}`,
  )
  expect(failure).toMatchObject({ message: 'stopped' })
  expect(JSON.parse(readFileSync(join(folder, 'media-glass.json'), 'utf8'))).toMatchObject({
    environment: { partial: '1 of 3 runs' },
    rows: [{ arm: 'overlay' }],
  })
  expect(readdirSync(folder)).toContain('media-glass-delay.png')
})
