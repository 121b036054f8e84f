import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const main = fileURLToPath(new URL('main.ts', import.meta.url))

it.each([
  ['churn --nodes many', /^INVALID_ARGUMENT: .*nodes/],
  ['churns', /^INVALID_ARGUMENT: /],
  ['fuzz --world guests --world keys --seeds 1', /^INVALID_ARGUMENT: .*--world is given more than once/],
  ['compare --out', /^INVALID_ARGUMENT: .*--out needs a value/],
  ['loss --kill-every=', /^INVALID_ARGUMENT: .*--kill-every needs a value/],
  ['light-viewers --nodes 17', /INVALID_ARGUMENT: .*--nodes is 18 at least/],
])('the command line refuses %s with 64', (command, why) => {
  const args = ['--conditions=runnel-src', main, ...command.split(' ')]
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(stderr).toMatch(why)
  expect(status).toBe(64)
})
