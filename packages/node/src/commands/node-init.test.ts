import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { newDirectory, runRunnel, startAtTerminal, stopAll } from '../cli.testkit.ts'

const owner = `0x${'a'.repeat(40)}`

describe('runnel node init', { timeout: 120_000 }, () => {
  afterEach(stopAll)
  const written = (cwd: string) => JSON.parse(readFileSync(join(cwd, 'runnel.json'), 'utf8')) as unknown

  it('asks nothing without a terminal, and prints what comes next', async () => {
    const cwd = newDirectory()
    const flags = [
      '--stream',
      `${owner}/*`,
      '--stream',
      '/own',
      '--public-url',
      'wss://node.example',
      '--storage',
    ]
    const result = await runRunnel(['node', 'init', '--host', '0.0.0.0', ...flags], { cwd })
    expect(result).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^wrote node\.key: node 0x\w{40}\nwrote runnel\.json; start .*runnel(?:\.js)? node\n$/,
      ),
      stderr: expect.stringContaining('network.json does not exist yet'),
    })
    expect(written(cwd)).toEqual({
      network: 'network.json',
      key: 'node.key',
      streams: [`${owner}/*`, '/own'],
      websocket: { host: '0.0.0.0', port: 7170, publicUrl: 'wss://node.example' },
      http: { port: 7171 },
      storage: { enabled: true },
    })
    expect(await runRunnel(['node', 'init'], { cwd })).toMatchObject({
      ...{ code: 1, stdout: '' },
      stderr: expect.stringContaining('(FILE_EXISTS)'),
    })
  })

  it('writes nothing that a node would refuse', async () => {
    const cwd = newDirectory()
    const result = await runRunnel(['node', 'init', '--public-url', 'http://node.example'], { cwd })
    expect(result).toMatchObject({ code: 78, stderr: expect.stringContaining('websocket.publicUrl') })
    expect(() => written(cwd)).toThrow('ENOENT')
  })

  it('asks on a terminal', async () => {
    const cwd = newDirectory()
    writeFileSync(join(cwd, 'network.json'), '{}')
    const command = startAtTerminal(['node', 'init'], { cwd })
    const answers: [string, string][] = [
      ['Network file', ''],
      ['Key file', ''],
      ['Streams to take part in', `${owner}/a, /b`],
      ['Address to listen on', '0.0.0.0'],
      ['Port for other nodes', '1234'],
      ['URL by which others reach it', ''],
      ['Port for health', ''],
      ['Store the streams', 'y'],
      ['Write it?', ''],
    ]
    for (const [question, answer] of answers) {
      await command.said(question)
      command.process.stdin?.write(`${answer}\r`)
    }
    expect(await command.ended).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/runnel(?:\.js)? node\r?\n/),
    })
    expect(written(cwd)).toMatchObject({
      ...{ network: 'network.json', streams: [`${owner}/a`, '/b'], storage: { enabled: true } },
      websocket: { host: '0.0.0.0', port: 1234 },
    })
  })

  it('names the key that it made where RUNNEL_KEY would go before it', async () => {
    const result = await runRunnel(['node', 'init'], { cwd: newDirectory(), env: { RUNNEL_KEY: 'user.key' } })
    expect(result).toMatchObject({ code: 0, stdout: expect.stringMatching(/ node --key node\.key\n$/) })
  })

  it('ends at Ctrl-C, and writes nothing', async () => {
    const cwd = newDirectory()
    const command = startAtTerminal(['node', 'init'], { cwd })
    await command.said('Network file')
    command.process.stdin?.write('\u0003')
    expect(await command.ended).toMatchObject({ code: 1, stdout: expect.stringContaining('(INTERRUPTED). ') })
    expect(() => written(cwd)).toThrow('ENOENT')
  })
})
