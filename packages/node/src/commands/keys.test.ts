import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readDelegationFile } from '@runnel/client'
import { afterEach, describe, expect, it } from 'vitest'
import { newDirectory, runRunnel, startAtTerminal, stopAll } from '../cli.testkit.ts'

afterEach(stopAll)

const cwd = newDirectory()
const run = (line: string, input = '') => runRunnel(line.split(' '), { cwd, input })
const write = (name: string, text: string) => writeFileSync(join(cwd, name), text, { mode: 0o600 })
const modeOf = (name: string) => statSync(join(cwd, name)).mode & 0o777

/** What `key delegations --json` prints. */
const shownIn = (stdout: string) =>
  JSON.parse(stdout) as readonly { from: string; until: string; problem?: { code: string } }[]

/** Keys and accounts of the development networks, which everybody knows. */
const mnemonic = 'test test test test test test test test test test test junk'
const [alice, bob] = [
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
]
const asAlice = '--network network.json --key alice.key'
const day = /"until":"(\d{4}-\d\d-\d\d)T/

write('alice.key', 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
write('words.txt', `${mnemonic}\n`)
write(
  'network.json',
  JSON.stringify({
    version: 1,
    chain: {
      ...{ rpcUrl: 'http://127.0.0.1:1', chainId: 31337 },
      registries: { trackerRegistry: alice, streamRegistry: alice, storageRegistry: alice },
    },
  }),
)

describe('runnel key import', () => {
  it('writes a key file from what a wallet exports', async () => {
    expect(await run('key import a.key --from words.txt')).toMatchObject({ code: 0, stdout: `${alice}\n` })
    expect(modeOf('a.key')).toBe(0o600)
    expect(readFileSync(join(cwd, 'a.key'), 'utf8')).toBe(readFileSync(join(cwd, 'alice.key'), 'utf8') + '\n')
    const second = "key import b.key --derivation-path m/44'/60'/0'/0/1 --json"
    expect(await run(second, mnemonic)).toMatchObject({
      code: 0,
      stdout: `{"file":"b.key","address":"${bob}"}\n`,
    })
    expect(await run('key import a.key', mnemonic)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('KEY_FILE_EXISTS'),
    })
  })

  it('wants the password of a keystore in a file where nobody can be asked', async () => {
    const { encryptKeystoreJsonSync } = await import('ethers')
    const privateKey = `0x${readFileSync(join(cwd, 'alice.key'), 'utf8')}`
    write(
      'keystore.json',
      encryptKeystoreJsonSync({ address: alice, privateKey }, 'open', { scrypt: { N: 2 } }),
    )
    write('password', 'open\n')
    write('wrong', 'shut\n')
    const line = 'key import k.key --from keystore.json'
    expect(await run(line)).toMatchObject({ code: 78, stderr: expect.stringContaining('PASSWORD_REQUIRED') })
    expect(await run(`${line} --password-file wrong`)).toMatchObject({
      code: 77,
      stderr: expect.stringContaining('KEYSTORE_PASSWORD_WRONG'),
    })
    expect(await run(`${line} --password-file password`)).toMatchObject({ code: 0, stdout: `${alice}\n` })
    expect(await run('key import l.key --from gone.json')).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('FILE_UNREADABLE'),
    })
  })
})

/** A terminal is made by a program of Linux. */
describe.skipIf(process.platform !== 'linux')('runnel key import at a terminal', () => {
  const importWith = async (password: string, file: string) => {
    const command = startAtTerminal(`key import ${file} --from typed.json`.split(' '), { cwd })
    await command.said('Password of the keystore')
    command.process.stdin?.write(`${password}\r`)
    return command.ended
  }

  it('asks for the password of a keystore, and does not show it', async () => {
    const { encryptKeystoreJsonSync } = await import('ethers')
    const privateKey = `0x${readFileSync(join(cwd, 'alice.key'), 'utf8')}`
    const account = { address: alice, privateKey }
    write('typed.json', encryptKeystoreJsonSync(account, 'open sesame', { scrypt: { N: 2 } }))
    const wrong = await importWith('open barley', 'typed.key')
    expect(wrong).toMatchObject({ code: 77, stdout: expect.stringContaining('KEYSTORE_PASSWORD_WRONG') })
    const right = await importWith('open sesame', 'typed.key')
    expect(right).toMatchObject({ code: 0, stdout: expect.stringContaining(alice) })
    for (const { stdout } of [wrong, right]) expect(stdout).not.toMatch(/sesame|barley/)
    expect(readFileSync(join(cwd, 'typed.key'), 'utf8').trim()).toBe(privateKey.slice(2))
    expect(modeOf('typed.key')).toBe(0o600)
  })
})

describe('runnel key delegate', () => {
  it('writes a delegation file to a new key, without asking any network', async () => {
    const streams = `${alice}/a,${bob}/b`
    const made = await run(
      `key delegate --out s.delegation --streams ${streams} --label ci --for 24h ${asAlice}`,
    )
    expect(made).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^runnel: without a reading key, .*\n$/),
      stdout: expect.stringMatching(
        new RegExp(`^wrote s.delegation: 0x[0-9a-f]{40} acts for ${alice} until \\S+Z\\n$`),
      ),
    })
    expect(modeOf('s.delegation')).toBe(0o600)
    const { stdout } = await run('key delegations s.delegation --json')
    const shown = shownIn(stdout)[0]
    expect(shown).toMatchObject({
      ...{ file: 's.delegation', user: alice, chainId: 31337, label: 'ci' },
      ...{ rights: ['publish', 'read'], streams: streams.split(',') },
    })
    expect(Date.parse(shown?.until ?? '') - Date.parse(shown?.from ?? '')).toBe(86_400_000)
    expect(shown?.problem).toBeUndefined()
    expect(stdout).not.toContain(readDelegationFile(join(cwd, 's.delegation')).privateKey)
    const again = await run(`key delegate --out s.delegation ${asAlice}`)
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('DELEGATION_FILE_EXISTS') })
  })

  it('names streams of its user by their paths', async () => {
    const { stdout } = await run(`key delegate --out p.delegation --streams /a,${bob}/b ${asAlice} --json`)
    expect(JSON.parse(stdout)).toMatchObject({ streams: [`${alice}/a`, `${bob}/b`] })
  })

  it('is for all streams and 30 days unless told', async () => {
    const { stdout } = await run(`key delegate --out d.delegation ${asAlice} --json`)
    expect(JSON.parse(stdout)).toMatchObject({ streams: [], rights: ['publish', 'read'] })
    const until = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10)
    expect(day.exec(stdout)?.[1]).toBe(until)
  })

  it('can be to a key that stays where it is', async () => {
    const server = (await run('key new server.key')).stdout.trim()
    const printed = await run(`key delegate --to ${server} --rights publish ${asAlice}`)
    expect(printed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^0x01[0-9a-f]+\n$/) })
    const text = printed.stdout.trim()
    expect(await run(`key accept ${text} t.delegation --key server.key`)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${server} acts for ${alice} until`),
    })
    expect((await run('key delegations t.delegation')).stdout.split('\n').slice(0, 5)).toEqual([
      't.delegation',
      `  user      ${alice}`,
      `  delegate  ${server}`,
      '  may       publish',
      '  streams   all',
    ])
    expect(await run(`key accept ${text} u.delegation --key alice.key`)).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('DELEGATION_NOT_YOURS'),
    })
    expect(await run(`key accept ${text.slice(0, -2)} u.delegation --key server.key`)).toMatchObject({
      code: 65,
      stderr: expect.stringContaining('DELEGATION_INVALID'),
    })
  })

  it.each<[string, number, string, string]>([
    [`${asAlice}`, 64, 'USAGE', '--out FILE'],
    [`--out x --to ${bob} ${asAlice}`, 64, 'USAGE', 'mutually exclusive'],
    [`--to nobody ${asAlice}`, 64, 'INVALID_NODE_ID', 'nobody'],
    [`--out x --streams= ${asAlice}`, 64, 'INVALID_STREAM_ID', ''],
    [`--out x --streams lobby ${asAlice}`, 64, 'INVALID_STREAM_ID', 'lobby'],
    [`--out x --rights write ${asAlice}`, 64, 'USAGE', '--rights takes publish, read'],
    [`--out x --label é ${asAlice}`, 64, 'USAGE', '--label'],
    [`--out x --for 367d ${asAlice}`, 64, 'USAGE', 'up to 366d'],
    [`--out x --for 93d ${asAlice}`, 78, 'DELEGATION_TOO_BROAD', 'all streams for 93 days'],
    ['--out x --key alice.key', 78, 'NETWORK_NOT_CONFIGURED', '--network'],
    ['--out x --network network.json', 78, 'KEY_REQUIRED', 'runnel.js key new'],
    [`--out alice.key/x ${asAlice}`, 1, 'DELEGATION_FILE_UNWRITABLE', 'alice.key/x'],
  ])('refuses %s (exit code %i)', async (line, code, errorCode, hint) => {
    const result = await run(`key delegate ${line}`)
    expect(result).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(`(${errorCode}). `) })
    expect(result.stderr).toContain(hint)
  })
})

describe('runnel key delegations', () => {
  it('says what is wrong with each', async () => {
    await run(`key delegate --out short.delegation --for 1ms ${asAlice}`)
    await run(`key delegate --out long.delegation ${asAlice}`)
    write('other.json', JSON.stringify({ version: 1, trackers: [], streams: [] }))
    const stolen = readDelegationFile(join(cwd, 'long.delegation'))
    write(
      'stolen.delegation',
      JSON.stringify({ version: 1, ...stolen, privateKey: `0x${'c0de'.repeat(16)}` }),
    )
    const problems = async (line: string) =>
      shownIn((await run(`key delegations ${line} --json`)).stdout).map(({ problem }) => problem?.code)
    expect(await problems('short.delegation long.delegation stolen.delegation')).toEqual([
      'DELEGATION_EXPIRED',
      undefined,
      'DELEGATION_NOT_YOURS',
    ])
    expect((await run('key delegations short.delegation')).stdout).toContain('(DELEGATION_EXPIRED)')
    expect(await problems('long.delegation --network other.json')).toEqual(['DELEGATION_OTHER_CHAIN'])
  })

  it('refuses files that are none, and those that others can read', async () => {
    const refused = (code: string) => ({
      code: 78,
      stdout: '',
      stderr: expect.stringContaining(`(${code}). `),
    })
    expect(await run('key delegations gone')).toMatchObject(refused('DELEGATION_FILE_MISSING'))
    expect(await run('key delegations alice.key')).toMatchObject(refused('DELEGATION_FILE_INVALID'))
    await run(`key delegate --out open.delegation ${asAlice}`)
    chmodSync(join(cwd, 'open.delegation'), 0o644)
    expect(await run('key delegations open.delegation')).toMatchObject(refused('DELEGATION_FILE_TOO_OPEN'))
  })
})
