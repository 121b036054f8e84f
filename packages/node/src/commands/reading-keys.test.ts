import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readReadingKeyFile } from '@runnel/client'
import { decodeCard, isCardSignedByKey, loadCrypto } from '@runnel/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { newDirectory, runRunnel, stopAll } from '../cli.testkit.ts'

afterEach(stopAll)

const cwd = newDirectory()
const run = (line: string, env: Readonly<Record<string, string>> = {}) =>
  runRunnel(line.split(' '), { cwd, env })
const write = (name: string, text: string) => writeFileSync(join(cwd, name), text, { mode: 0o600 })
const refused = (code: number, errorCode: string) => ({
  code,
  stdout: '',
  stderr: expect.stringContaining(`(${errorCode}). `),
})

/** An account of the development networks, whose key everybody knows. */
const alice = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const contract = `0x${'5afe'.repeat(10)}`
const asAlice = '--network network.json --key alice.key'

write('alice.key', 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
write('network.json', JSON.stringify({ version: 1, chainId: 31337, trackers: [], streams: [] }))

describe('runnel reading-key', () => {
  it('exports the key of a key file with its card, and shows neither key', async () => {
    const exported = await run(`reading-key export a.reading-key ${asAlice}`)
    expect(exported).toMatchObject({
      code: 0,
      stdout: `wrote a.reading-key: reading key of ${alice}, generation 0\n`,
    })
    expect(statSync(join(cwd, 'a.reading-key')).mode & 0o777).toBe(0o600)
    const { secret } = readReadingKeyFile(join(cwd, 'a.reading-key'))
    const shown = await run('reading-key show a.reading-key')
    expect(shown.stdout).toMatch(
      new RegExp(`user +${alice}\n +generation +0\n[^]*chain +31337\n +fingerprint +([0-9a-f]{4} ?){8}\n`),
    )
    for (const { stdout, stderr } of [exported, shown, await run('reading-key show a.reading-key --json')])
      expect(stdout + stderr).not.toContain(secret.slice(2, 10))
    await run(`reading-key export b.reading-key --generation 1 ${asAlice}`)
    const next = readReadingKeyFile(join(cwd, 'b.reading-key'))
    expect(next.generation).toBe(1)
    expect(next.secret).not.toBe(secret)
    expect(await run(`reading-key export a.reading-key ${asAlice}`)).toMatchObject(
      refused(1, 'READING_KEY_FILE_EXISTS'),
    )
  })

  it('prints a card that can be handed over, the same from a file', async () => {
    await run(`reading-key export c.reading-key ${asAlice}`)
    const kept = await run('reading-key card --reading-key c.reading-key')
    const card = decodeCard(Buffer.from(kept.stdout.trim(), 'base64url'))
    expect(card).toMatchObject({ userId: alice, chainId: 31337, generation: 0 })
    expect(isCardSignedByKey(card, await loadCrypto())).toBe(true)
    const signed = await run(`reading-key card ${asAlice} --json`)
    const { fingerprint } = JSON.parse(signed.stdout) as { fingerprint: string }
    expect(kept.stderr).toContain(`card of ${alice}, generation 0: ${fingerprint}`)
  })

  it('makes one for a contract account, which has no card yet', async () => {
    expect(await run(`reading-key new s.reading-key --user ${contract} --generation 3`)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`reading key of ${contract}, generation 3; keep a copy`),
    })
    await run(`reading-key new t.reading-key --user ${contract}`)
    const [s, t] = ['s', 't'].map((name) => readReadingKeyFile(join(cwd, `${name}.reading-key`)).secret)
    expect(s).not.toBe(t)
    expect((await run('reading-key show s.reading-key')).stdout).toMatch(/generation +3\n +card +none\n$/)
    expect(await run('reading-key card --reading-key s.reading-key')).toMatchObject(
      refused(78, 'CARD_NEEDS_USER'),
    )
  })

  it('is written beside a delegation on demand', async () => {
    const line = `key delegate --out d.delegation --with-reading-key d.reading-key ${asAlice}`
    expect(await run(line)).toMatchObject({ code: 0, stderr: '' })
    expect(readReadingKeyFile(join(cwd, 'd.reading-key'))).toMatchObject({ userId: alice, generation: 0 })
    expect(readFileSync(join(cwd, 'd.delegation'), 'utf8')).not.toContain('secret')
    const next = `key delegate --out d1.delegation --with-reading-key d1.reading-key --generation 1 ${asAlice}`
    expect(await run(next)).toMatchObject({ code: 0 })
    expect(readReadingKeyFile(join(cwd, 'd1.reading-key')).generation).toBe(1)
  })

  it.each([
    ['is too broad', '--out f.delegation --for 93d', 78, 'DELEGATION_TOO_BROAD'],
    ['cannot be written', '--out alice.key', 1, 'DELEGATION_FILE_EXISTS'],
  ])('is not left where the delegation %s', async (_, line, code, errorCode) => {
    const made = run(`key delegate --with-reading-key f.reading-key ${line} ${asAlice}`)
    expect(await made).toMatchObject(refused(code, errorCode))
    expect(existsSync(join(cwd, 'f.reading-key'))).toBe(false)
  })

  it.each<[string, number, string]>([
    ['reading-key new x.reading-key', 64, 'USAGE'],
    ['reading-key new x.reading-key --user nobody', 64, 'INVALID_NODE_ID'],
    [`reading-key export x.reading-key --generation -1 ${asAlice}`, 64, 'USAGE'],
    [`reading-key export x.reading-key --generation 0.5 ${asAlice}`, 64, 'USAGE'],
    ['reading-key export x.reading-key --network network.json', 78, 'KEY_REQUIRED'],
    [`reading-key card --publish --generation 1 ${asAlice}`, 64, 'USAGE'],
    [`key delegate --out x --generation 1 ${asAlice}`, 64, 'USAGE'],
    [`key delegate --out x --with-reading-key y --generation -1 ${asAlice}`, 64, 'USAGE'],
    ['reading-key show gone', 78, 'READING_KEY_FILE_MISSING'],
    ['reading-key show alice.key', 78, 'READING_KEY_FILE_INVALID'],
    ['reading-key rotate --network network.json', 78, 'KEY_REQUIRED'],
  ])('refuses %s (exit code %i)', async (line, code, errorCode) => {
    expect(await run(line)).toMatchObject(refused(code, errorCode))
  })
})

describe('a process with a delegation', () => {
  const stream = `${alice}/lobby`

  it('is given a reading key of its user, in a file that only it can read', async () => {
    await run(
      `key delegate --out e.delegation --with-reading-key e.reading-key ${asAlice} --streams ${stream}`,
    )
    await run(`reading-key new other.reading-key --user ${contract}`)
    const act = `--network network.json --as e.delegation --reading-key`
    const commands = [`subscribe ${stream}`, `publish ${stream}`, `resend last 1 ${stream}`, 'node']
    for (const command of commands) {
      expect(await run(`${command} ${act} other.reading-key`)).toMatchObject(
        refused(78, 'READING_KEY_NOT_YOURS'),
      )
    }
    const env = { RUNNEL_READING_KEY: 'other.reading-key', RUNNEL_AS: 'e.delegation' }
    for (const command of commands)
      expect(await run(`${command} --network network.json`, env)).toMatchObject(
        refused(78, 'READING_KEY_NOT_YOURS'),
      )
    // With the right one it gets as far as a network without the stream lets it.
    expect(await run(`resend last 1 ${stream} ${act} e.reading-key`)).toMatchObject({
      stderr: expect.stringContaining('STREAM_NOT_FOUND'),
    })
    chmodSync(join(cwd, 'e.reading-key'), 0o644)
    expect(await run(`resend last 1 ${stream} ${act} e.reading-key`)).toMatchObject(
      refused(78, 'READING_KEY_FILE_TOO_OPEN'),
    )
  }, 60_000)
})
