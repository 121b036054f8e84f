import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startAnvil, type Anvil } from '@runnel/contracts/anvil'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newDirectory, runRunnel, startRunnel, stopAll, type RunningCommand } from '../cli.testkit.ts'

/** Each command is a process, and the machine may be busy. */
const timeoutMs = 180_000
const cwd = newDirectory()
const run = (line: string) => runRunnel(line.split(' '), { cwd })
const network = '--network network.json'

/** A registered tracker on a free port. */
function startTracker(name: string): RunningCommand {
  const line = `tracker --key ${name}.key --port 0 --register ${network} --owner-key owner.key`
  return startRunnel(line.split(' '), { cwd })
}

async function newKey(name: string): Promise<string> {
  await run(`key new ${name}.key`)
  return (await run(`key show ${name}.key`)).stdout.trim()
}

interface Status {
  readonly nodeId: string
  readonly url: string
  readonly error?: string
  readonly cluster?: {
    readonly state: string
    readonly trackers: readonly {
      readonly nodeId: string
      readonly linked: boolean
      readonly error: string
    }[]
  }
}

async function status(): Promise<Map<string, Status>> {
  const { stdout } = await run(`tracker status ${network} --json`)
  return new Map((JSON.parse(stdout) as Status[]).map((each) => [each.nodeId, each]))
}

describe('trackers of one registry', { timeout: timeoutMs }, () => {
  let chain: Anvil
  const ids: Record<string, string> = {}

  beforeAll(async () => {
    chain = await startAnvil()
    writeFileSync(join(cwd, 'owner.key'), chain.privateKeys[0]?.replace('0x', '') ?? '', { mode: 0o600 })
    for (const name of ['a', 'b', 'c', 'd']) ids[name] = await newKey(name)
    expect(await run(`registry deploy --rpc-url ${chain.url} --key owner.key`)).toMatchObject({ code: 0 })
  }, timeoutMs)
  afterEach(stopAll)
  afterAll(() => chain.stop())

  it('link to each other as they are registered, whatever else stands in the registry', async () => {
    expect(await run(`tracker status ${network}`)).toMatchObject({
      code: 69,
      stderr: expect.stringContaining('none is registered (TRACKER_UNREACHABLE)'),
    })
    const a = startTracker('a')
    await a.said('tracker started')
    await a.said('HTTP at')
    const urlOfA = /at (ws:\S+),/.exec(a.stderr())?.[1] ?? ''
    // Somebody else's id for the same tracker, and one that is not there.
    for (const [id, url] of [
      [ids['c'], urlOfA],
      [ids['d'], 'ws://127.0.0.1:1'],
    ])
      expect(await run(`registry add-tracker ${id} ${url} ${network} --key owner.key`)).toMatchObject({
        code: 0,
      })
    await a.said('CLUSTER_PEER_WRONG_KEY')
    await a.said('CLUSTER_PEER_UNREACHABLE')
    const b = startTracker('b')
    for (const each of [a, b]) await each.said('"msg":"linked to another tracker"')
    const states = await status()
    const [stateOfA, stateOfB] = [states.get(ids['a'] ?? ''), states.get(ids['b'] ?? '')]
    for (const state of [stateOfA, stateOfB]) expect(state?.cluster?.state).toBe('joined')
    const seen = stateOfA?.cluster?.trackers.find(({ nodeId }) => nodeId === ids['b'])
    expect(seen).toMatchObject({ linked: true, error: null })
    expect(states.get(ids['c'] ?? '')?.error).toBe(`another tracker answers there: ${ids['a']}`)
    expect(states.get(ids['d'] ?? '')?.error).toBeDefined()
    const lines = (await run(`tracker status ${urlOfA}`)).stdout
    expect(lines).toContain('1 of 3')
    expect(lines).toContain(`sees ${ids['b']}`)
    b.process.kill('SIGKILL')
    await a.said('"msg":"the link to another tracker closed"')
    await run(`registry remove-tracker ${ids['b']} ${network} --key owner.key`)
    expect([...(await status()).keys()]).not.toContain(ids['b'])
  })
})
