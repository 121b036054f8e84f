import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startAnvil, type Anvil } from '@runnel/contracts/anvil'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newDirectory, runRunnel, startRunnel, stopAll } from '../cli.testkit.ts'

/** Each command is a process, and the machine may be busy. */
const timeoutMs = 300_000
const cwd = newDirectory()
const run = (line: string, input = '') => runRunnel(line.split(' '), { cwd, input })
const start = (line: string) => startRunnel(line.split(' '), { cwd })
const asOwner = '--network network.json --key owner.key'

/** A key with nothing on its account; who it is. */
async function newKey(name: string): Promise<string> {
  await run(`key new ${name}`)
  return (await run(`key show ${name}`)).stdout.trim()
}

describe('a private network', { timeout: timeoutMs }, () => {
  let chain: Anvil
  let ownerId = ''
  let aliceId = ''
  let bobId = ''

  beforeAll(async () => {
    chain = await startAnvil()
    writeFileSync(join(cwd, 'owner.key'), chain.privateKeys[0]?.replace('0x', '') ?? '', { mode: 0o600 })
    ownerId = (await run('key show owner.key')).stdout.trim()
    aliceId = await newKey('alice.key')
    bobId = await newKey('bob.key')
    const deploy = `registry deploy --permissioned --rpc-url ${chain.url} --key owner.key`
    expect(await run(deploy)).toMatchObject({ code: 0, stderr: '' })
  }, timeoutMs)
  afterEach(stopAll)
  afterAll(() => chain.stop())

  it('lists nodes as its owner says, and nobody else', async () => {
    const list = async () => (await run('registry list-nodes --network network.json')).stdout
    expect(await list()).toBe('')
    expect(await run(`registry allow-node ${aliceId} ${bobId} ${asOwner}`)).toMatchObject({
      code: 0,
      stdout: `allowed ${aliceId}\nallowed ${bobId}\n`,
    })
    expect((await list()).split('\n').filter(Boolean)).toEqual([aliceId, bobId].sort())
    expect((await run(`registry show ${asOwner.replace('--key owner.key', '--json')}`)).stdout).toContain(
      `"owner":"${ownerId}","listedNodes":2`,
    )
    expect(await run(`registry remove-node ${bobId} --network network.json --key alice.key`)).toMatchObject({
      code: 77,
      stderr: expect.stringContaining('OWNABLE_UNAUTHORIZED_ACCOUNT'),
    })
    expect(await run(`registry remove-node ${bobId} ${asOwner} --json`)).toMatchObject({
      code: 0,
      stdout: `{"nodeIds":["${bobId}"],"allowed":false}\n`,
    })
    expect(await list()).toBe(`${aliceId}\n`)
  })

  it('can belong to another account than the one that pays, from the beginning', async () => {
    const deploy = `registry deploy --permissioned --owner ${aliceId} --rpc-url ${chain.url}`
    expect(await run(`${deploy} --key owner.key --out hers.json`)).toMatchObject({ code: 0 })
    expect((await run('registry show --network hers.json')).stdout).toContain(`owner            ${aliceId}\n`)
    expect(await run(`registry allow-node ${bobId} --network hers.json --key owner.key`)).toMatchObject({
      code: 77,
    })
  })

  it('is told from an open one, which lists nobody', async () => {
    expect(await run(`registry deploy --rpc-url ${chain.url} --key owner.key --out open.json`)).toMatchObject(
      {
        code: 0,
      },
    )
    for (const line of [`list-nodes`, `allow-node ${aliceId} --key owner.key`]) {
      expect(await run(`registry ${line} --network open.json`)).toMatchObject({
        code: 78,
        stderr: expect.stringContaining('(NETWORK_NOT_PRIVATE). '),
      })
    }
  })

  it('carries what listed nodes say, refuses others, and drops who is removed', async () => {
    await newKey('tracker.key')
    const registering = '--register --network network.json --owner-key owner.key'
    const tracker = start(`tracker --port 0 --key tracker.key ${registering}`)
    await tracker.said(/HTTP at \S+\n/)
    expect(await run(`stream create /news ${asOwner}`)).toMatchObject({ code: 0 })
    const stream = `${ownerId}/news`
    for (const permission of ['publish', 'subscribe']) {
      expect(await run(`stream grant ${stream} public ${permission} ${asOwner}`)).toMatchObject({ code: 0 })
    }
    expect(await run(`registry allow-node ${ownerId} ${aliceId} ${asOwner}`)).toMatchObject({ code: 0 })
    expect(await run(`registry remove-node ${bobId} ${asOwner}`)).toMatchObject({ code: 0 })

    const node = (key: string) =>
      `node --network network.json --key ${key} --observer-streams ${stream} --http-port 0 --websocket-port 0`
    const alice = start(node('alice.key'))
    await alice.said('tracker connected')
    const news = start(`subscribe ${stream} ${asOwner}`)
    await news.said('subscribed to')
    const refused = { code: 77, stdout: '', stderr: expect.stringContaining(`${bobId} (NODE_NOT_LISTED). `) }
    expect(await run(node('bob.key'))).toMatchObject(refused)
    expect(await run(`publish ${stream} --network network.json --key bob.key`, '1\n')).toMatchObject(refused)
    expect(await run(`subscribe ${stream} --network network.json --key bob.key`)).toMatchObject(refused)

    expect(await run(`registry remove-node ${aliceId} ${asOwner}`)).toMatchObject({ code: 0 })
    // Of its own knowledge: the tracker's close names the code too, and a node that reads both changes at once sees none.
    await alice.said('"code":"NODE_NOT_LISTED"')
    const [url] = /http:\S+(?=\/v1\/status)/.exec(alice.stderr()) ?? []
    const ready = await fetch(`${url}/ready`)
    expect([ready.status, await ready.text()]).toEqual([
      503,
      expect.stringContaining('"code":"NOT_ADMITTED"'),
    ])
    await tracker.said(new RegExp(`${aliceId}.*NODE_NOT_LISTED`))
    expect(await run(`registry allow-node ${aliceId} ${bobId} ${asOwner}`)).toMatchObject({ code: 0 })
    // The tracker and the node read the registry each in its own time: either may know first.
    await alice.said('the private network lists this user')
    await alice.said(/tracker connected(?![^]*TRACKER_LOST)/)
    const publish = run(`publish ${stream} --network network.json --key bob.key`, '{"n":1}\n')
    expect(await publish).toMatchObject({ code: 0 })
    await news.said('{"n":1}\n')
  })

  it('lets in the nodes of a listed user by its delegation, until the user takes that back', async () => {
    await newKey('server-tracker.key')
    const registering = '--register --network network.json --owner-key owner.key'
    const tracker = start(`tracker --port 0 --key server-tracker.key ${registering}`)
    await tracker.said(/HTTP at \S+\n/)
    // Encrypted, as nobody is said to read it; without a storage node, and by publishers that end at once.
    expect(await run(`stream create /servers ${asOwner}`)).toMatchObject({ code: 0 })
    const stream = `${ownerId}/servers`
    expect(await run(`registry allow-node ${ownerId} ${asOwner}`)).toMatchObject({ code: 0 })
    const { stdout } = await run(
      `key delegate --out server.delegation --with-reading-key server.reading --json ${asOwner}`,
    )
    const { delegate } = JSON.parse(stdout) as { delegate: string }

    const delegated = '--network network.json --as server.delegation'
    const asServer = `${delegated} --reading-key server.reading`
    const observing = `--observer-streams ${stream} --http-port 0 --websocket-port 0`
    const [node, other] = [start(`node ${asServer} ${observing}`), start(`node ${asServer} ${observing}`)]
    await Promise.all([node.said('tracker connected'), other.said('tracker connected')])
    expect(node.stderr()).toContain(`"userId":"${ownerId}"`)
    const subscriber = start(`subscribe ${stream} --meta ${asServer}`)
    await subscriber.said('subscribed to')
    const publish = () =>
      runRunnel(`publish ${stream} ${asServer} --header trace=7f`.split(' '), { cwd, input: '{"n":1}\n' })
    expect(await publish()).toMatchObject({ code: 0 })
    await subscriber.said(`"publisherId":"${ownerId}"`)
    await subscriber.said('"headers":{"trace":"7f"}')
    expect(await run(`stream delete ${stream} ${delegated}`)).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('(NO_USER_KEY). '),
    })

    expect(await run(`key revoke ${delegate} ${asOwner}`)).toMatchObject({ code: 0 })
    await tracker.said(/NODE_NOT_LISTED|DELEGATION_REVOKED/)
    await node.said('"code":"DELEGATION_REVOKED"')
    await subscriber.said('(DELEGATION_REVOKED). ')
    expect(await publish()).toMatchObject({
      code: 77,
      stderr: expect.stringContaining('(DELEGATION_REVOKED). '),
    })
  })
})
