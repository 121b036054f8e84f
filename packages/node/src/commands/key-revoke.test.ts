import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { requestDelegation } from '@runnel/client'
import { startAnvil, type Anvil } from '@runnel/contracts/anvil'
import { JsonRpcProvider, Wallet } from 'ethers'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { deployMultisig, multisigSigner } from '../../../client/src/registry/multisig.testkit.ts'
import { newDirectory, runRunnel, stopAll } from '../cli.testkit.ts'
import { saveDelegation } from '../keys/delegations.ts'
import { nameKey, randomKey } from '../keys/key-file.ts'

/** Each command is a process, and the machine may be busy. */
const timeoutMs = 300_000
const cwd = newDirectory()
const run = (line: string) => runRunnel(line.split(' '), { cwd })
const asUser = '--network network.json --key user.key'

describe('runnel key revoke', { timeout: timeoutMs }, () => {
  let chain: Anvil

  beforeAll(async () => {
    chain = await startAnvil()
    writeFileSync(join(cwd, 'user.key'), chain.privateKeys[0]?.replace('0x', '') ?? '', { mode: 0o600 })
    expect(await run(`registry deploy --rpc-url ${chain.url} --key user.key`)).toMatchObject({ code: 0 })
  }, timeoutMs)
  afterEach(stopAll)
  afterAll(() => chain.stop())

  const delegate = async (file: string): Promise<string> => {
    const { stdout } = await run(`key delegate --out ${file} --json ${asUser}`)
    return (JSON.parse(stdout) as { delegate: string }).delegate
  }
  const problems = async (files: string) => {
    const { stdout } = await run(`key delegations ${files} --network network.json --json`)
    return (JSON.parse(stdout) as { problem?: { code: string } }[]).map(({ problem }) => problem?.code)
  }

  it('takes back what one delegate may do, or all there are', async () => {
    const laptop = await delegate('laptop')
    await delegate('server')
    expect(await problems('laptop server')).toEqual([undefined, undefined])
    const revoked = { code: 0, stderr: '', stdout: `revoked ${laptop}\n` }
    expect(await run(`key revoke ${laptop} ${asUser}`)).toMatchObject(revoked)
    expect(await problems('laptop server')).toEqual(['DELEGATION_REVOKED', undefined])
    expect(await run(`key revoke --all --json ${asUser}`)).toMatchObject({
      code: 0,
      stdout: '{"revoked":"all"}\n',
    })
    expect(await problems('laptop server')).toEqual(['DELEGATION_REVOKED', 'DELEGATION_REVOKED'])
    await delegate('next')
    expect(await problems('next')).toEqual([undefined])
  })

  it('is not needed where a contract account backs its delegation no longer', async () => {
    const provider = new JsonRpcProvider(chain.url)
    onTestFinished(() => provider.destroy())
    const account = await deployMultisig(new Wallet(chain.privateKeys[0] ?? '', provider))
    const key = await nameKey(randomKey())
    const wish = {
      chainId: 31337,
      streams: [],
      publishes: true,
      reads: true,
      lastsMs: 60_000,
      requester: 'team',
    }
    const accounts = { contractBlock: () => Promise.resolve(account.block) }
    const make = async (file: string, owners: Parameters<typeof multisigSigner>[1]) => {
      const signer = multisigSigner(account, owners)
      saveDelegation(
        join(cwd, file),
        key.privateKey,
        await requestDelegation(signer, key.nodeId, wish, { accounts }),
      )
    }
    await make('team', account.owners)
    await make('alone', account.owners.slice(1))
    expect(await problems('team alone')).toEqual([undefined, 'DELEGATION_REVOKED'])
    await account.removeOwner(account.owners[0])
    expect(await problems('team')).toEqual(['DELEGATION_REVOKED'])
    const { stdout } = await run('key delegations team --network network.json')
    expect(stdout).toContain(`the contract ${account.nodeId} does not back it (DELEGATION_REVOKED)`)
    // Nothing is known of contracts where nothing is asked, or nobody can be.
    expect((await run('key delegations team')).stdout).not.toContain('problem')
    writeFileSync(
      join(cwd, 'static.json'),
      JSON.stringify({ version: 1, chainId: 31337, trackers: [], streams: [] }),
    )
    const { stdout: unasked } = await run('key delegations team --network static.json')
    expect(unasked).toContain('(CONTRACT_NEEDS_CHAIN)')
  })

  it.each<[string, number, string, string]>([
    ['', 64, 'USAGE', '--all'],
    [`0x${'a'.repeat(40)} --all`, 64, 'USAGE', '--all'],
    ['nobody', 64, 'INVALID_NODE_ID', 'nobody'],
    ['--all --network network.json', 78, 'KEY_REQUIRED', '--key'],
  ])('refuses "%s" (exit code %i)', async (line, code, errorCode, hint) => {
    const result = await run(`key revoke ${line}`.trim())
    expect(result).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(`(${errorCode}). `) })
    expect(result.stderr).toContain(hint)
  })
})
