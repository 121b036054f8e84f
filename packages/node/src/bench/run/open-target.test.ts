import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { newDirectory } from '../../cli.testkit.ts'
import { argsWith } from './arguments.testkit.ts'
import { openTarget, requireTarget } from './open-target.ts'

it.each(['http', 'mqtt'] as const)('knows before anything starts that %s users lack a gateway', (users) => {
  const check = () => requireTarget(argsWith({ network: 'gone.json', users }))
  expect(check).toThrow(expect.objectContaining({ code: 'BENCH_GATEWAY_MISSING' }))
})

it.each([
  ['http', 'nonsense'],
  ['http', 'mqtt://127.0.0.1:1883'],
  ['mqtt', 'http://127.0.0.1:7170'],
  ['mqtt', '127.0.0.1:1883'],
] as const)('knows before anything starts that %s users cannot use %s', (users, gateway) => {
  const check = () => requireTarget(argsWith({ network: 'gone.json', users, gateway }))
  const message = expect.stringContaining('--gateway takes a URL with')
  expect(check).toThrow(expect.objectContaining({ code: 'USAGE', message }))
})

it('does not take a password in the URL of a gateway, and does not repeat it', () => {
  const gateway = 'http://someone:s3cret@127.0.0.1:7170'
  const check = () => requireTarget(argsWith({ network: 'gone.json', users: 'http', gateway }))
  expect(check).toThrow(/--gateway takes no user and password/)
  expect(check).not.toThrow(/s3cret/)
})

it('opens a network that does not answer no longer than it may', async () => {
  const network = join(newDirectory(), 'net.json')
  const trackers = [{ nodeId: `0x${'1'.repeat(40)}`, url: 'ws://127.0.0.1:1' }]
  const id = `0x${'2'.repeat(40)}/s`
  const streams = [{ id, permissions: [{ user: 'public', publish: true, subscribe: true }] }]
  writeFileSync(network, JSON.stringify({ version: 1, trackers, streams }))
  const called = new Error('called off')
  const needs = { parts: 1, storage: false, signal: AbortSignal.abort(called), onProgress: () => {} }
  await expect(openTarget(argsWith({ network, stream: id }), needs)).rejects.toBe(called)
})
