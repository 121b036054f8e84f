import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startAnvil, type Anvil } from '@runnel/contracts/anvil'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newDirectory, runRunnel, startRunnel, stopAll } from '../cli.testkit.ts'

/** Each command is a process, and the machine may be busy. */
const timeoutMs = 180_000
const cwd = newDirectory()
const network = ['--network', 'network.json', '--key', 'owner.key']
const run = (...args: string[]) => runRunnel(args, { cwd })

describe('the overlay of a stream', { timeout: timeoutMs }, () => {
  let chain: Anvil

  beforeAll(async () => {
    chain = await startAnvil()
    writeFileSync(join(cwd, 'owner.key'), chain.privateKeys[0]?.replace('0x', '') ?? '', { mode: 0o600 })
    await run('registry', 'deploy', '--rpc-url', chain.url, '--key', 'owner.key')
  }, timeoutMs)
  afterAll(async () => {
    await stopAll()
    await chain.stop()
  })

  it('is what its owner wrote into the metadata', async () => {
    const tracker = startRunnel(
      ['tracker', '--port', '0', '--register', '--log-level', 'debug', ...network],
      { cwd },
    )
    await tracker.said('HTTP at')
    const metadata = ['--metadata', '{"overlay":"random"}']
    const chosen = (await run('stream', 'create', '/chosen', ...metadata, ...network)).stdout.trim()
    const plain = (await run('stream', 'create', '/plain', ...network)).stdout.trim()
    startRunnel(['subscribe', plain, ...network], { cwd })
    const reader = startRunnel(['subscribe', chosen, ...network], { cwd })
    await tracker.said(`"streamId":"${chosen}","overlay":{"strategy":"random"}`)
    const http = /HTTP at (http:\S+)/.exec(tracker.stderr())?.[1] ?? ''
    const answer = await fetch(`${http}/v1/stream-parts`)
    const { streamParts } = (await answer.json()) as {
      streamParts: { streamPartId: string; overlay: string }[]
    }
    const overlays = new Map(streamParts.map(({ streamPartId, overlay }) => [streamPartId, overlay]))
    expect(overlays.get(`${chosen}#0`)).toBe('random')
    expect(overlays.get(`${plain}#0`) ?? 'topology-aware').toBe('topology-aware')
    // What is not named stays as it is.
    expect(await run('stream', 'update', '/plain', '--partitions', '3', ...network)).toMatchObject({
      code: 0,
    })
    expect(await run('stream', 'update', '/plain', '--history', 'none', ...network)).toMatchObject({
      code: 0,
    })
    const shown = (await run('stream', 'show', '/plain', '--json', ...network)).stdout
    expect(JSON.parse(shown)).toMatchObject({ partitions: 3, metadata: '{"encryption":{"history":"none"}}' })
    expect((await run('stream', 'search', '/pl', '--can', 'publish', ...network)).stdout).toBe(`${plain}\n`)
    expect((await run('stream', 'list', '--mine', ...network)).stdout).toBe(
      `${[plain, chosen].sort().join('\n')}\n`,
    )
    // Nor is there any once the stream is deleted, which ends what reads it.
    await run('stream', 'delete', chosen, ...network)
    await reader.said('STREAM_NOT_FOUND')
    const left = async (): Promise<unknown> =>
      (await fetch(`${http}/v1/stream-parts?contains=${encodeURIComponent(chosen)}`)).json()
    await expect.poll(left, { timeout: timeoutMs }).toMatchObject({ total: 0, streamParts: [] })
  })
})
