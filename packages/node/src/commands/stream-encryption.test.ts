import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunnelClient } from '@runnel/client'
import { decodeBatch, toStreamId, toStreamPartId } from '@runnel/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runRunnel, startRunnel, stopAll } from '../cli.testkit.ts'
import { collect, StorageNetwork } from '../storage-network.testkit.ts'

/** Each command is a process, and the machine may be busy. */
const timeoutMs = 240_000

interface ListedKeys {
  readonly isEncrypted: boolean
  readonly readers: readonly { readonly user: string; readonly cardGeneration: number | null }[]
  readonly openers: readonly {
    readonly user: string
    readonly epochId: string
    readonly madeForReaders: number
    readonly linked: readonly string[]
    readonly noCard: readonly string[]
  }[]
}

describe('an encrypted stream on the command line', { timeout: timeoutMs }, () => {
  const network = new StorageNetwork()
  const ids = new Map<string, string>()
  const id = (name: string) => ids.get(name) ?? ''
  let storage: Awaited<ReturnType<StorageNetwork['startStorage']>>

  beforeAll(async () => {
    await network.start()
    const keys = { owner: network.ownerKey.replace('0x', ''), alice: network.newKey(), bob: network.newKey() }
    for (const [name, key] of Object.entries(keys)) {
      writeFileSync(join(network.directory, `${name}.key`), key)
      chmodSync(join(network.directory, `${name}.key`), 0o600)
      ids.set(name, (await network.run(`key show ${name}.key`)).stdout.trim())
    }
    storage = await network.startStorage('kept', network.newKey())
    ids.set('storage', storage.nodeId)
  }, timeoutMs)
  afterAll(async () => {
    await stopAll()
    await network.stop()
  }, timeoutMs)

  const as = (name: string, line: string, input = '') =>
    runRunnel([...line.split(' '), '--network', network.networkFile, '--key', `${name}.key`], {
      cwd: network.directory,
      input,
    })

  async function newStream(path: string, flags = ''): Promise<string> {
    const created = await as('owner', `stream create /${path}${flags}`)
    expect(created).toMatchObject({ code: 0 })
    const stream = created.stdout.trim()
    expect(await as('owner', `storage add ${stream} ${id('storage')}`)).toMatchObject({ code: 0 })
    return stream
  }

  const keysOf = async (stream: string) =>
    JSON.parse((await as('owner', `stream keys ${stream} --json`)).stdout) as ListedKeys

  /** With which keys the stored messages of a stream are sealed. */
  async function storedKeyIds(client: RunnelClient, stream: string): Promise<readonly string[]> {
    const endOfTime = { timestamp: 2 ** 48 - 1, sequenceNumber: 2 ** 32 - 1 }
    const streamPartId = toStreamPartId(toStreamId(stream), 0)
    const part = { streamPartId, from: { timestamp: 0, sequenceNumber: 0 }, to: endOfTime }
    const batches = await collect(client.readStorageNode(id('storage'), part, AbortSignal.timeout(30_000)))
    return batches.flatMap((bytes) => decodeBatch(bytes).messages.map(({ groupKeyId }) => groupKeyId))
  }

  it('has its choices in the metadata, and says how it is encrypted', async () => {
    const flags = ' --history none --key-holder me --on-outage stop --rotate-after-days 30'
    const stream = await newStream('chosen', flags)
    const { stdout } = await as('owner', `stream show ${stream}`)
    expect(stdout).toContain('encryption  yes, because not everybody may subscribe\n')
    expect(stdout).toContain(`keys      of the key holder ${id('owner')}\n`)
    expect(stdout).toContain('new key   when a reader is removed, when one is added, and after 30 days\n')
    const shown: unknown = JSON.parse((await as('owner', `stream show ${stream} --json`)).stdout)
    const encryption = { history: 'none', keyHolder: id('owner'), onOutage: 'stop', rotateAfterDays: 30 }
    expect(shown).toMatchObject({ encryption: { isEncrypted: true, ...encryption } })

    const open = await newStream('open')
    await as('owner', `stream grant ${open} public subscribe`)
    expect((await as('owner', `stream show ${open}`)).stdout).toContain(
      'encryption  none, because everybody may subscribe\n',
    )
    expect(await as('owner', `stream rotate ${open}`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('(NOT_ENCRYPTED). '),
    })
  })

  it.each([
    ['--rotate-after-days 0', '--rotate-after-days must be'],
    ['--key-holder nobody', '--key-holder must be'],
    ['--encrypt perhaps', 'always'],
    ['--encrypt always --metadata text', 'JSON object'],
    ['--encrypt always --metadata {"encryption":{}}', 'not both'],
  ])('is not created with %s', async (flags, reason) => {
    expect(await as('owner', `stream create /wrong ${flags}`)).toMatchObject({
      code: 64,
      stderr: expect.stringContaining(reason),
    })
  })

  it('is read by a newcomer with everybody else gone, live and stored', async () => {
    const stream = await newStream('private')
    expect((await as('owner', `stream keys ${stream}`)).stdout).toContain('none found')
    expect(await as('owner', `publish ${stream}`, '1\n2\n')).toMatchObject({
      code: 0,
      stderr: 'runnel: published 2\n',
    })
    // Alice has never been here: her card comes by hand.
    const card = await as('alice', 'reading-key card')
    writeFileSync(join(network.directory, 'alice.card'), card.stdout)
    expect(
      await as('owner', `stream grant ${stream} ${id('alice')} subscribe --card alice.card`),
    ).toMatchObject({ code: 0, stderr: '' })
    expect(await as('alice', `resend last 10 ${stream}`)).toMatchObject({ code: 0, stdout: '1\n2\n' })
    const privateKey = readFileSync(join(network.directory, 'alice.key'), 'utf8')
    const alice = await network.client({ privateKey })
    const played = await collect(alice.playback(stream, { last: 2 }, { speed: Infinity }))
    expect(played.map(({ content }) => content)).toEqual([1, 2])
    await alice.close()
    // Bob has no card anywhere.
    expect(await as('owner', `stream grant ${stream} ${id('bob')} subscribe`)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`${id('bob')} has no card yet`),
    })
    expect(await as('owner', `stream keys ${stream}`)).toMatchObject({
      stdout: expect.stringMatching(
        new RegExp(
          `readers     3, 2 with a card\nkeys of     ${id('owner')}\n  newest    [\\w-]{8}, \\d+ .* old, made for 1 reader, itself included\n`,
        ),
      ),
    })
    expect(await keysOf(stream)).toMatchObject({
      isEncrypted: true,
      openers: [{ user: id('owner'), noCard: [id('bob')] }],
    })
    const live = startRunnel(
      ['subscribe', stream, '--last', '2', '--count', '3', '--network', network.networkFile].concat(
        '--key',
        'alice.key',
      ),
      { cwd: network.directory },
    )
    await live.said('2\n')
    expect(await as('owner', `publish ${stream}`, '3\n')).toMatchObject({ code: 0 })
    expect(await live.ended).toMatchObject({ code: 0, stdout: '1\n2\n3\n' })
  })

  it('ends a reader that loses its permission while it reads, with the reason', async () => {
    const stream = await newStream('taken-back')
    await as('owner', `stream grant ${stream} ${id('alice')} subscribe`)
    const options = ['--network', network.networkFile, '--key', 'alice.key']
    const reader = startRunnel(['subscribe', stream, ...options], { cwd: network.directory })
    await reader.said('subscribed to')
    await as('owner', `stream revoke ${stream} ${id('alice')} subscribe`)
    const grant = `stream grant ${stream} ${id('alice')} subscribe`
    expect(await reader.ended).toMatchObject({
      ...{ code: 77, stdout: '' },
      stderr: expect.stringMatching(new RegExp(`\\(NO_SUBSCRIBE_PERMISSION\\)\\. .*runs: .*${grant}`)),
    })
  })

  it('refuses the card of somebody else, and what is none', async () => {
    const stream = await newStream('carded')
    writeFileSync(join(network.directory, 'bob.card'), (await as('bob', 'reading-key card')).stdout)
    const grant = `stream grant ${stream} ${id('alice')} subscribe --card`
    expect(await as('owner', `${grant} bob.card`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('(CARD_OF_OTHER_USER). '),
    })
    expect(await as('owner', `${grant} alice.key`)).toMatchObject({
      stderr: expect.stringContaining('runnel.js reading-key card prints'),
    })
    expect(await as('owner', `${grant} gone`)).toMatchObject({ code: 64 })
    const { stdout } = await as('owner', `stream show ${stream}`)
    expect(stdout).not.toContain(id('alice'))
  })

  it('says where the list of its keys may lack some', async () => {
    const denying = await network.startStorage('denying', network.newKey(), {
      flags: ['--storage-owners-deny', id('owner')],
    })
    const created = await as('owner', 'stream create /unkept')
    const stream = created.stdout.trim()
    expect(await as('owner', `storage add ${stream} ${denying.nodeId}`)).toMatchObject({ code: 0 })
    expect(await as('owner', `stream keys ${stream} --json`)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"isComplete":false'),
      stderr: expect.stringMatching(
        /^runnel: storage nodes did not answer for all keys.* storage list STREAM/,
      ),
    })
    denying.command.process.kill('SIGTERM')
    await denying.command.ended
  })

  it('gets a new key on demand, to which processes go over that run', async () => {
    const stream = await newStream('rotated')
    await as('owner', `stream grant ${stream} ${id('bob')} subscribe`)
    const publisher = await network.client({ privateKey: network.ownerKey })
    await publisher.waitForStorage(await publisher.publish(stream, 'before'))
    const [opener] = (await keysOf(stream)).openers
    const rotated = await as('owner', `key rotate ${stream}`)
    expect(rotated).toMatchObject({ code: 0 })
    const next = /^([\w-]{8}) for \d other readers? with a card\n/.exec(rotated.stdout)?.[1]
    expect(next).not.toBe(opener?.epochId)
    expect((await keysOf(stream)).openers[0]?.epochId).toBe(next)
    // The new key is on its way to the process that runs.
    const used = async () => {
      await publisher.waitForStorage(await publisher.publish(stream, 'after'))
      return (await storedKeyIds(publisher, stream)).at(-1)
    }
    while ((await used()) !== next);
    expect((await storedKeyIds(publisher, stream))[0]).toBe(opener?.epochId)
    // What was before stays readable for those who come later.
    const grant = `stream grant ${stream} ${id('alice')} subscribe --card alice.card`
    writeFileSync(join(network.directory, 'alice.card'), (await as('alice', 'reading-key card')).stdout)
    expect(await as('owner', grant)).toMatchObject({ code: 0 })
    expect((await as('alice', `resend from 0 ${stream}`)).stdout).toMatch(/^"before"\n("after"\n)+$/)
  })

  it('has one key for all publishers while a broker holds it, also for those that may not read', async () => {
    const stream = await newStream('held', ' --key-holder me')
    expect(await as('bob', 'reading-key card --publish')).toMatchObject({ code: 0 })
    await as('owner', `stream grant ${stream} ${id('bob')} publish`)
    expect(await as('bob', `stream rotate ${stream}`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('(NOT_KEY_HOLDER). '),
    })
    const broker = startRunnel(
      [
        'node',
        '--as',
        'owner.key',
        '--keys-hold',
        stream,
        '--http-port',
        '0',
        '--websocket-port',
        '0',
      ].concat('--network', network.networkFile),
      { cwd: network.directory },
    )
    await broker.said(`a new key of ${stream}`)
    await broker.said('status at')
    expect(await as('bob', `publish ${stream}`, '1\n')).toMatchObject({ code: 0 })
    broker.process.kill('SIGTERM')
    await broker.ended
    const { openers } = await keysOf(stream)
    expect(openers).toMatchObject([{ user: id('owner') }])
    const owner = await network.client({ privateKey: network.ownerKey })
    expect(await storedKeyIds(owner, stream)).toEqual([openers[0]?.epochId])
    expect(await as('owner', `resend last 1 ${stream}`)).toMatchObject({ code: 0, stdout: '1\n' })
  })

  it('is not shared with a reading key that its user replaced', async () => {
    const stream = await newStream('renewed')
    writeFileSync(join(network.directory, 'old.card'), (await as('bob', 'reading-key card')).stdout)
    expect(await as('bob', 'reading-key rotate')).toMatchObject({ code: 0 })
    expect(await as('owner', `stream grant ${stream} ${id('bob')} subscribe --card old.card`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('(CARD_OLDER_GENERATION). '),
    })
    expect((await as('owner', `stream show ${stream}`)).stdout).not.toContain(id('bob'))
  })

  it('lists what it can of its keys where no storage node answers', async () => {
    const stream = await newStream('unanswered')
    storage.command.process.kill('SIGTERM')
    await storage.command.ended
    expect(await as('owner', `stream keys ${stream} --json`)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"isComplete":false'),
      stderr: expect.stringMatching(/^runnel: storage nodes did not answer for all keys/),
    })
  })
})
