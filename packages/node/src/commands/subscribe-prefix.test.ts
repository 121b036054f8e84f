import type { Tracker } from '@runnel/tracker'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newDirectory, runRunnel, startRunnel, stopAll } from '../cli.testkit.ts'
import { startDocumentNetwork } from '../document-network.testkit.ts'

/** Each command is a process, and the machine may be busy. */
const timeoutMs = 300_000
const cwd = newDirectory()
const run = (line: string, input = '') => runRunnel(line.split(' '), { cwd, input })
const start = (line: string) => startRunnel(line.split(' '), { cwd })

describe('runnel subscribe of a prefix', { timeout: timeoutMs }, () => {
  const owner = `0x${'a'.repeat(40)}`
  let tracker: Tracker

  beforeAll(async () => {
    tracker = await startDocumentNetwork(
      cwd,
      ['1', '2'].map((path) => ({ id: `${owner}/rooms/${path}` })),
    )
  })
  afterAll(async () => {
    await stopAll()
    await tracker.stop()
  })

  it('prints what comes from each stream, with its id', async () => {
    const subscriber = start(`subscribe ${owner}/rooms/# --network network.json --count 2`)
    await subscriber.said('listening to')
    for (const path of ['1', '2'])
      expect(await run(`publish ${owner}/rooms/${path} --network network.json`, `${path}\n`)).toMatchObject({
        code: 0,
      })
    const { code, stdout, stderr } = await subscriber.ended
    const line = (path: string) => `{"streamId":"${owner}/rooms/${path}","content":${path}}`
    expect([code, stdout.trim().split('\n').sort()]).toEqual([0, [line('1'), line('2')]])
    expect(stderr).toContain(`subscribed to ${owner}/rooms/1`)
  })

  it('refuses what is no prefix before it connects', async () => {
    const { code, stderr } = await run(`subscribe ${owner}//# --network network.json`)
    expect([code, stderr]).toEqual([64, expect.stringContaining('INVALID_STREAM_ID')])
  })
})
