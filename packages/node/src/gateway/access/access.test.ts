import { chmodSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeKeyFile, type RunnelClient } from '@runnel/client'
import { toNodeId, toStreamId } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { afterEach, describe, expect, it } from 'vitest'
import { newDirectory } from '../../cli.testkit.ts'
import { KeyedAccess } from './access.ts'
import { hashOfKey, newApiKey, writeKeysFile, type KeyEntryInput } from './keys-file.ts'
import { gatewayLimits } from '../limits.ts'

const account = toNodeId(`0x${'a'.repeat(40)}`)
/** The first development account. */
const alice = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const aliceKey = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

describe('the keys of a gateway', () => {
  const directory = newDirectory()
  const file = join(directory, 'keys.json')
  const stops: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop()
  })

  async function open(keys: readonly KeyEntryInput[]) {
    writeKeysFile(file, keys)
    const clock = new VirtualClock({ startMs: Date.UTC(2026, 0, 1) })
    const opened: string[] = []
    const closed: string[] = []
    const errors: unknown[] = []
    const access = new KeyedAccess(file, {
      client: { account } as RunnelClient,
      open: async ({ as }) => {
        opened.push(as)
        return { close: async () => void closed.push(as) } as unknown as RunnelClient
      },
      clock,
      logger: { info: () => {}, error: (fields: unknown) => void errors.push(fields) },
    })
    await access.start()
    stops.push(() => access.stop())
    const changed: string[] = []
    access.on('changed', (name) => changed.push(name))
    /** Until the file has been looked at once more. */
    const look = async (isSo: () => boolean) => {
      for (; !isSo(); clock.advanceBy(gatewayLimits.lookMs))
        await new Promise((resolve) => setImmediate(resolve))
    }
    return { access, clock, opened, closed, errors, changed, look }
  }

  it('are found by what is sent, and kept as hashes', async () => {
    const key = newApiKey()
    const { access } = await open([
      { name: 'a', keyHash: hashOfKey(key), publish: ['/a'] },
      { name: 'b', certificate: 'ab'.repeat(32) },
    ])
    expect(access.accountOf({ key })?.name).toBe('a')
    expect(access.accountOf({ key })?.mayPublish(toStreamId(`${account}/a`))).toBe(true)
    expect(access.accountOf({ certificateFingerprint: 'AB:'.repeat(31) + 'AB' })?.name).toBe('b')
    expect(access.accountOf({ key: newApiKey() })).toBeUndefined()
    expect(access.accountOf({ key: '' })).toBeUndefined()
  })

  it('serve the user of a file, by a client that is shared and closed when idle', async () => {
    writeKeyFile(join(directory, 'alice.key'), aliceKey)
    const key = newApiKey()
    const { access, clock, opened, closed } = await open([
      { name: 'a', keyHash: hashOfKey(key), as: 'alice.key', publish: ['/a'] },
    ])
    const found = access.accountOf({ key })
    expect(found?.userId).toBe(alice)
    expect(found?.mayPublish(toStreamId(`${alice}/a`))).toBe(true)
    const [first, second] = await Promise.all([found?.acquire(), found?.acquire()])
    expect(opened).toEqual([join(directory, 'alice.key')])
    expect(second?.client).toBe(first?.client)
    first?.release()
    clock.advanceBy(2 * gatewayLimits.idleClientMs)
    expect(access.counts.identities).toBe(1)
    second?.release()
    clock.advanceBy(gatewayLimits.idleClientMs)
    expect(access.counts.identities).toBe(0)
    await access.stop()
    expect(closed).toEqual(opened)
  })

  it('change with the file, and whoever was changed or taken away is named', async () => {
    const keys = [newApiKey(), newApiKey(), newApiKey()] as const
    const [a, b, c] = ['a', 'b', 'c'].map((name, i) => ({ name, keyHash: hashOfKey(keys[i] ?? '') }))
    const { access, changed, look } = await open([a, b].map((entry) => ({ name: '', ...entry })))
    const kept = access.accountOf({ key: keys[0] })
    writeKeysFile(
      file,
      [a, c].map((entry) => ({ name: '', ...entry })),
    )
    await look(() => changed.length > 0)
    expect(changed).toEqual(['b'])
    expect(access.accountOf({ key: keys[0] })).toBe(kept)
    expect(access.accountOf({ key: keys[1] })).toBeUndefined()
    expect(access.accountOf({ key: keys[2] })?.name).toBe('c')
  })

  it('are read again until they can be: what they name may come later', async () => {
    const key = newApiKey()
    const late = { name: 'late', keyHash: hashOfKey(key), as: 'late.key' }
    const { access, errors, look } = await open([])
    writeKeysFile(file, [late])
    await look(() => errors.length > 0)
    writeKeyFile(join(directory, 'late.key'), aliceKey)
    await look(() => access.accountOf({ key }) !== undefined)
    expect(errors).toHaveLength(1)
  })

  it('outlast a file that nothing can be said of', async () => {
    const key = newApiKey()
    const { access, errors, look } = await open([{ name: 'a', keyHash: hashOfKey(key) }])
    rmSync(file)
    symlinkSync(file, file)
    await look(() => errors.length > 0)
    expect(access.accountOf({ key })?.name).toBe('a')
    rmSync(file)
    writeKeysFile(file, [])
    await look(() => access.accountOf({ key }) === undefined)
  })

  it('end when they expire', async () => {
    const key = newApiKey()
    const { access, changed, look } = await open([
      { name: 'a', keyHash: hashOfKey(key), expires: '2026-01-01T00:00:30Z' },
    ])
    expect(access.accountOf({ key })?.name).toBe('a')
    await look(() => changed.length > 0)
    expect(changed).toEqual(['a'])
    expect(access.accountOf({ key })).toBeUndefined()
  })

  it.each<[string, (path: string) => void]>([
    ['is no JSON any more', (path) => writeFileSync(path, '{')],
    ['can be read by others', (path) => chmodSync(path, 0o644)],
    ['is gone', (path) => rmSync(path)],
  ])('stay as they were when the file %s', async (_, spoil) => {
    const key = newApiKey()
    const { access, errors, look } = await open([{ name: 'a', keyHash: hashOfKey(key) }])
    spoil(file)
    await look(() => errors.length > 0)
    expect(access.accountOf({ key })?.name).toBe('a')
  })

  it('that are wrong are counted and slowed by network, others are not', async () => {
    const { access, clock } = await open([])
    const waits = Array.from({ length: gatewayLimits.failureBurst + 1 }, () => access.failed('192.0.2.1'))
    expect(waits.at(-2)).toBe(0)
    expect(waits.at(-1)).toBe(1_000)
    expect(access.failed('192.0.2.9')).toBe(1_000)
    expect(access.failed('198.51.100.1')).toBe(0)
    expect(access.counts.failures).toBe(gatewayLimits.failureBurst + 3)
    clock.advanceBy(1_000)
    expect(access.failed('192.0.2.1')).toBe(0)
  })
})
