import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { newDirectory, runRunnel, stopAll } from '../cli.testkit.ts'
import { hashOfKey } from '../gateway/access/keys-file.ts'

afterEach(stopAll)

const cwd = newDirectory()
const run = (line: string) => runRunnel(['gateway', 'key', ...line.split(' ')], { cwd })

describe('runnel gateway key', () => {
  it('makes a key, prints it once, and keeps its hash in a file that only its owner can read', async () => {
    const made = await run('new sensors --publish /sensors/# --subscribe /commands --expires 30d')
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^rk_\S{43}\n$/) })
    const text = readFileSync(join(cwd, 'gateway-keys.json'), 'utf8')
    expect(text).not.toContain(made.stdout.trim())
    expect(text).toContain(hashOfKey(made.stdout.trim()))
    expect(statSync(join(cwd, 'gateway-keys.json')).mode & 0o777).toBe(0o600)
    expect(await run('new sensors')).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('(GATEWAY_NAME_TAKEN)'),
    })
    const { stdout } = await run('list')
    expect(stdout).toMatch(/^sensors; publish \/sensors\/#; subscribe \/commands; until 20\S+\n$/)
    expect(stdout).not.toContain(hashOfKey(made.stdout.trim()))
  })

  it('takes a key away', async () => {
    await run('new other --subscribe /# --certificate ' + 'AB:'.repeat(31) + 'AB')
    expect(await run('remove other')).toMatchObject({ code: 0, stdout: 'removed other\n' })
    expect(await run('remove other')).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('(GATEWAY_NO_SUCH_KEY)'),
    })
  })

  it('says which option makes no entry, and writes nothing', async () => {
    const wrong = await run('new bad/name --publish sensors --certificate AB:CD')
    expect(wrong.code).toBe(64)
    expect(wrong.stderr).toContain('name must be up to 64 letters')
    expect(wrong.stderr).toContain('--certificate must be 64 hexadecimal digits')
    expect(wrong.stderr).toContain('--publish must be 0xowner/path')
    const idle = await run('new bad')
    expect(idle).toMatchObject({ code: 64, stderr: expect.stringContaining('the key may do nothing') })
    const missing = await run('new bad --publish /# --as nobody.key')
    expect(missing).toMatchObject({ code: 78, stderr: expect.stringContaining('nobody.key') })
    expect((await run('list --json')).stdout).not.toContain('bad')
  })
})
