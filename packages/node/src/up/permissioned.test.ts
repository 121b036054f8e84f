import { afterAll, describe, expect, it } from 'vitest'
import { newDirectory, printedCommand, runRunnel, startRunnel, stopAll } from '../cli.testkit.ts'

/** Starting a network of processes takes its time on a busy machine. */
const timeoutMs = 240_000

afterAll(stopAll, timeoutMs)

describe('runnel up --permissioned', { timeout: timeoutMs }, () => {
  it('runs a private network: its own nodes take part, others when they are listed', async () => {
    const cwd = newDirectory()
    const up = startRunnel(['up', '--permissioned', '--nodes', '3', '--trackers', '2'], { cwd })
    await up.said('runnel.js registry allow-node')
    expect(up.stdout()).toContain('The private network is running: 3 nodes')
    const network = ['--network', '.runnel/up/network.json']
    const run = (line: string, input = '') => runRunnel([...line.split(' '), ...network], { cwd, input })
    const lobby = /0x\w+\/lobby/.exec(up.stdout())?.[0] ?? ''

    const { stdout } = await run('registry list-nodes')
    // Three nodes, the storage node, the owner, the user.
    expect(stdout.trim().split('\n')).toHaveLength(6)
    const subscriber = startRunnel([...printedCommand(up.stdout(), 'subscribe 0x'), '--count', '2'], { cwd })
    expect(await subscriber.ended).toMatchObject({ code: 0 })

    await runRunnel(['key', 'new', 'guest.key'], { cwd })
    const guest = (await runRunnel(['key', 'show', 'guest.key'], { cwd })).stdout.trim()
    const publish = () => run(`publish ${lobby} --key guest.key`, '1\n')
    expect(await publish()).toMatchObject({
      code: 77,
      stderr: expect.stringContaining('(NODE_NOT_LISTED). '),
    })
    const allow = printedCommand(up.stdout(), 'registry allow-node').map((word) =>
      word.replace(/^NODE$/, guest),
    )
    expect(await runRunnel(allow, { cwd })).toMatchObject({ code: 0 })
    expect(await publish()).toMatchObject({ code: 0 })
    up.process.kill('SIGINT')
    expect(await up.ended).toMatchObject({ code: 0 })
  })
})
