import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createIdentity, generatePrivateKey, loadCrypto, toHex } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '@runnel/tracker'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newDirectory, runRunnel, startRunnel, stopAll } from '../cli.testkit.ts'

/** Each command is a process, and the machine may be busy. */
const timeout = 300_000
const cwd = newDirectory()
const stream = `0x${'a'.repeat(40)}/asked`
const network = ['--network', 'network.json']
/** Of a user who alone may read it, so that it is encrypted. */
let secret: string
let tracker: Tracker

beforeAll(async () => {
  const crypto = await loadCrypto()
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const modules = { identity, crypto, clock: systemClock, random: systemRandom }
  tracker = createTracker({ listen: { host: '127.0.0.1', port: 0 } }, modules)
  await tracker.start()
  const permissions = [{ user: 'public', publish: true, subscribe: true }]
  const trackers = [{ nodeId: tracker.nodeId, url: tracker.url }]
  const key = generatePrivateKey(systemRandom)
  const user = createIdentity(key, crypto).nodeId
  writeFileSync(join(cwd, 'my.key'), toHex(key), { mode: 0o600 })
  secret = `${user}/secret`
  const own = { id: secret, permissions: [{ user, publish: true, subscribe: true }] }
  const document = { version: 1, trackers, streams: [{ id: stream, permissions }, own] }
  writeFileSync(join(cwd, 'network.json'), JSON.stringify(document))
})
afterAll(async () => {
  await stopAll()
  await tracker.stop()
})

describe('runnel request, respond and presence', { timeout }, () => {
  it('ask a program and print its reply, or why there is none', async () => {
    const asking = (content: string, ...more: string[]) =>
      runRunnel(['request', stream, content, ...network, ...more], { cwd })
    const program = `let s='';process.stdin.on('data',(d)=>s+=d).on('end',()=>{const n=JSON.parse(s);if(n<0)process.exit(3);console.log(n+1)})`
    const responder = startRunnel(
      ['respond', stream, ...network, '--run', process.execPath, '--arg=-e', `--arg=${program}`],
      {
        cwd,
      },
    )
    await responder.said('responding in')
    expect(await asking('41', '--timeout', '60s')).toMatchObject({ code: 0, stdout: '42\n' })
    const failed = await asking('-1', '--timeout', '60s')
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('ended with 3')])
    responder.process.kill('SIGINT')
    expect((await responder.ended).code).toBe(0)
    const alone = await asking('1')
    expect([alone.code, alone.stderr]).toEqual([69, expect.stringContaining('NO_RESPONDER')])
    expect((await asking('{')).code).toBe(64)
    expect((await runRunnel(['respond', stream, ...network], { cwd })).code).toBe(64)
  })

  it('print who is there', async () => {
    const watcher = startRunnel(['presence', stream, ...network], { cwd })
    await watcher.said('watching')
    const member = startRunnel(['presence', stream, '--enter', 'alice', ...network], { cwd })
    await watcher.said(/"type":"joined".*"data":\{"name":"alice"\}/)
    member.process.kill('SIGINT')
    await watcher.said('"type":"left"')
    expect((await member.ended).code).toBe(0)
  })
  it('enter an encrypted stream without a name, which would not be encrypted', async () => {
    const enter = (...name: string[]) =>
      runRunnel(['presence', secret, '--enter', ...name, '--for', '100ms', '--key', 'my.key', ...network], {
        cwd,
      })
    const refused = await enter('alice')
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('PRESENCE_NOT_ENCRYPTED')])
    expect(await enter()).toMatchObject({ code: 0, stderr: expect.stringContaining('watching') as string })
  })
})
