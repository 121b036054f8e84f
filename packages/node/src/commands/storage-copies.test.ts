import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  buildBatch,
  ContentType,
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  toStreamId,
} from '@runnel/protocol'
import { systemClock as clock, systemRandom } from '@runnel/protocol/system'
import { createStore, type MessageStore } from '@runnel/storage'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newDirectory, runRunnel, stopAll } from '../cli.testkit.ts'

const cwd = newDirectory()
const run = (line: string) => runRunnel(line.split(' '), { cwd })
let store: MessageStore

/** A store in use, with three messages. */
beforeAll(async () => {
  const crypto = await loadCrypto()
  const owner = createIdentity(generatePrivateKey(systemRandom), crypto)
  const chain = {
    ...{ streamId: toStreamId(`${owner.nodeId}/kept`), partition: 0 },
    ...{ publisherId: owner.nodeId, messageChainId: 'c' },
  }
  const batches = [1, 2, 3].map((timestamp) => {
    const message = {
      ...{ timestamp, sequenceNumber: 0, previous: undefined, contentType: ContentType.text },
      ...{ encryptionType: 0, groupKeyId: '', content: new Uint8Array([timestamp]) },
    }
    return buildBatch({ chain, messages: [message] }, crypto, owner)
  })
  store = createStore({ engine: 'sqlite', directory: join(cwd, 'storage') }, { clock })
  await store.open()
  await store.append(batches)
})

afterAll(async () => {
  await stopAll()
  await store.close()
})

it('what a storage node keeps is backed up and exported while it runs, and imported elsewhere', async () => {
  expect(await run('storage backup copy.sqlite --json')).toMatchObject({ code: 0 })
  const { stdout: lines } = await run('storage export')
  writeFileSync(join(cwd, 'all.ndjson'), lines)
  expect(lines.trim().split('\n')).toHaveLength(5)
  for (const file of ['copy.sqlite', 'all.ndjson']) {
    const { stdout } = await run(`storage import ${file} --storage-directory from-${file} --json`)
    expect(JSON.parse(stdout)).toMatchObject({ batches: 3, messages: 3, refused: 0 })
    expect((await run(`storage export --storage-directory from-${file}`)).stdout).toBe(lines)
  }
  const piped = await runRunnel(['storage', 'import', '--storage-directory', 'piped'], {
    cwd,
    input: lines,
  })
  expect(piped.stdout).toMatch(/3 messages in 3 batches/)
})

it('each failure is one line that says what to do', async () => {
  writeFileSync(
    join(cwd, 'changed.ndjson'),
    readFileSync(join(cwd, 'all.ndjson'), 'utf8').replace('"batch":"A', '"batch":"B'),
  )
  writeFileSync(join(cwd, 'text'), 'no export')
  chmodSync(join(cwd, 'text'), 0o600)
  const rows: [string, number, RegExp][] = [
    ['storage import changed.ndjson --storage-directory changed', 65, /line 2: .*UNSUPPORTED_VERSION/],
    ['storage import text --storage-directory text-store', 65, /EXPORT_INVALID/],
    ['storage import missing --storage-directory other', 78, /FILE_UNREADABLE/],
    ['storage import all.ndjson', 1, /open in another process/],
    ['storage backup copy.sqlite', 1, /FILE_EXISTS/],
    ['storage export --storage-directory nowhere', 1, /STORE_UNAVAILABLE/],
  ]
  for (const [line, code, text] of rows) {
    const result = await run(line)
    expect([line, result.code, result.stderr.trim().split('\n').length]).toEqual([line, code, 1])
    expect(result.stderr).toMatch(text)
  }
})
