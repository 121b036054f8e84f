import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newDirectory } from '../cli.testkit.ts'
import { parseConfig } from '../config/load-config.ts'
import { checkDisk, judge } from './check-disk.ts'
import { checkKey } from './check-key.ts'
import { checkStore } from './check-store.ts'

const [mib, gib] = [2 ** 20, 2 ** 30]

describe('what a node keeps on the disk', () => {
  it.each([
    [5 * mib, 0, 'error', '5 MiB free'],
    [200 * mib, 0, 'warning', '200 MiB free'],
    [20 * gib, 32 * gib, 'warning', '20 GiB free, and storage may take 32 GiB more'],
    [20 * gib, gib, 'ok', '20 GiB free'],
  ])('%i bytes free, %i more wanted', (free, more, state, message) => {
    expect(judge('/data', free, more)).toMatchObject({ state, message: expect.stringContaining(message) })
  })

  it('is looked at where the directory will be', () => {
    const directory = newDirectory()
    const options = { maxBytes: 0, file: undefined }
    expect(checkDisk({ ...options, directory: join(directory, 'not/yet') }).message).toContain(
      `${directory} has`,
    )
  })

  it('opens as a store, or not; looking leaves nothing behind', async () => {
    const directory = newDirectory()
    const { storage } = parseConfig({ storage: { enabled: true, directory } })
    const first = await checkStore(storage, false)
    expect(first).toMatchObject({
      state: 'ok',
      message: expect.stringContaining('will be created at the start'),
    })
    const file = first.message.split(' ')[0] ?? ''
    writeFileSync(file, 'no database at all, and long enough for a header of one'.repeat(20))
    expect(await checkStore(storage, false)).toMatchObject({ state: 'error' })
    expect(await checkStore(storage, true)).toMatchObject({ state: 'ok' })
  })

  it('is a key that nobody else can read', async () => {
    const directory = newDirectory()
    const file = (name: string, text: string, mode: number) => {
      writeFileSync(join(directory, name), text, { mode })
      return { key: join(directory, name), env: {} }
    }
    mkdirSync(join(directory, 'folder'))
    const good = '1'.repeat(64)
    const { finding, nodeId } = await checkKey(file('good.key', good, 0o600))
    expect(finding).toMatchObject({ state: 'ok', message: expect.stringContaining(String(nodeId)) })
    const states = [
      file('open.key', good, 0o644),
      file('bad.key', 'xyz', 0o600),
      { key: join(directory, 'gone.key'), env: {} },
      { key: join(directory, 'folder'), env: {} },
      { env: {} },
    ].map(async (sources) => (await checkKey(sources)).finding)
    expect(
      (await Promise.all(states)).map(({ state, message }) => `${state} ${/\((\w+)\)/.exec(message)?.[1]}`),
    ).toEqual([
      'error KEY_FILE_TOO_OPEN',
      'error INVALID_KEY',
      'error KEY_FILE_MISSING',
      'error KEY_FILE_UNREADABLE',
      'warning undefined',
    ])
  })
})
