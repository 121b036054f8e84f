import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const main = fileURLToPath(new URL('main.ts', import.meta.url))

const argsOf = (command: string) => ['--conditions=runnel-src', main, ...command.split(' ')]

it.each([
  ['churn --nodes many', /^INVALID_ARGUMENT: .*nodes/],
  ['churns', /^INVALID_ARGUMENT: /],
  ['fuzz --world guests --world keys --seeds 1', /^INVALID_ARGUMENT: .*--world is given more than once/],
  ['compare --out', /^INVALID_ARGUMENT: .*--out needs a value/],
  ['loss --kill-every=', /^INVALID_ARGUMENT: .*--kill-every needs a value/],
  [`diameter --out ${tmpdir()} --seed ${'x'.repeat(201)}`, /INVALID_ARGUMENT: .*--seed has 201 characters/],
  ['light-viewers --nodes 17', /INVALID_ARGUMENT: .*--nodes is 18 at least/],
])('the command line refuses %s with 64', (command, why) => {
  const { status, stderr } = spawnSync(process.execPath, argsOf(command), { encoding: 'utf8' })
  expect(stderr).toMatch(why)
  expect(status).toBe(64)
})

it('ends without a word when nobody reads on', async () => {
  const child = spawn(process.execPath, argsOf('loss --nodes 4 --seeds 1000 --seconds 1 --degree 3'), {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [said, ended] = [text(child.stderr), once(child, 'close')]
  await once(child.stdout, 'data')
  child.stdout.destroy()
  expect(await said).toMatch(/^ends within \d+ min\n$/)
  expect(await ended).toEqual([141, null])
})

it('writes what it measured although it cannot print it, and says so', () => {
  const [folder, full] = [mkdtempSync(join(tmpdir(), 'runnel-sim-')), openSync('/dev/full', 'w')]
  onTestFinished(() => {
    closeSync(full)
    rmSync(folder, { recursive: true })
  })
  const { status, stderr } = spawnSync(
    process.execPath,
    argsOf(`diameter --nodes 8 --degree 3 --repeats 1 --out ${folder}`),
    { encoding: 'utf8', stdio: ['ignore', full, 'pipe'] },
  )
  expect(stderr).toContain('standard output: ENOSPC')
  expect(readdirSync(folder)).toContain('diameter.json')
  expect(status).toBe(1)
})
