import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { loadCrypto } from '@runnel/protocol'
import { systemClock as clock } from '@runnel/protocol/system'
import { createStore, storeConfigOf } from '@runnel/storage'
import {
  importBatches,
  maxExportLineBytes,
  readExport,
  SqliteFile,
  storedBatches,
  type ImportedLine,
} from '@runnel/storage/backup'
import { defineCommand } from '../cli/command.ts'
import { errorLine } from '../cli/error-line.ts'
import { exitCodeFor } from '../cli/exit-codes.ts'
import { notice, printResult } from '../cli/output.ts'
import { readLines } from '../cli/read-lines.ts'
import { configOfFlags, settingOptions } from '../cli/setting-options.ts'
import { standardInput } from '../cli/standard-input.ts'
import { listenForStop } from '../cli/stop-signal.ts'
import { nodeError } from '../errors.ts'

/** How each SQLite file begins: https://www.sqlite.org/fileformat.html, section 1.2. */
const sqliteMagic = 'SQLite format 3\0'
/** Batches left out that are named one by one. */
const maxNamed = 10

export const storageImport = defineCommand({
  name: 'storage import',
  describe: 'Import what another storage node kept: an export, or a SQLite file',
  positionals: { file: { describe: 'Export or backup. Default: an export on standard input' } },
  options: settingOptions,
  examples: [
    [
      'storage import /backup/messages.sqlite',
      'Into the node that runnel.json describes, which must not be running',
    ],
    ['storage import --storage-engine cassandra < all.ndjson', 'Imports an export into another engine'],
  ],
  epilogue:
    'Takes the same flags as runnel node. The command checks that each batch was signed by its publisher, or by a delegate of the publisher. It leaves out and reports batches that are not genuine, and then exits with 65. Existing messages stay. When the node runs, its retention applies, and it serves only streams assigned to it.',
  run: async ({ file, json, ...args }) => {
    const config = storeConfigOf(configOfFlags(args).storage)
    const stop = listenForStop()
    const source = await sourceOf(file, stop.signal)
    const store = createStore(config, { clock })
    await store.open()
    let named = 0
    try {
      const imported = await importBatches(source, {
        ...{ store, crypto: await loadCrypto() },
        onRefused: (error, line) => {
          if (named++ < maxNamed) notice(`${line === undefined ? '' : `line ${line}: `}${errorLine(error)}`)
        },
      })
      const { batches, messages, refused } = imported
      printResult({ store: store.location, ...imported }, json, [
        `${store.location}: ${messages} messages in ${batches} batches${refused > 0 ? `, left out ${refused}` : ''}`,
      ])
      if (refused > 0) process.exitCode = exitCodeFor('BATCH_NOT_GENUINE')
    } finally {
      await store.close()
      stop.release()
    }
  },
})

async function sourceOf(file: string | undefined, signal: AbortSignal): Promise<AsyncIterable<ImportedLine>> {
  if (file === undefined) return readExport(readLines(standardInput(signal), maxExportLineBytes))
  if (await isSqlite(file)) return storedBatches(SqliteFile.open(file))
  const chunks = createReadStream(file, { signal }) as AsyncIterable<Uint8Array>
  return readExport(readLines(chunks, maxExportLineBytes))
}

async function isSqlite(file: string): Promise<boolean> {
  try {
    const opened = await open(file)
    try {
      const { buffer } = await opened.read(Buffer.alloc(sqliteMagic.length), 0, sqliteMagic.length, 0)
      return buffer.toString('latin1') === sqliteMagic
    } finally {
      await opened.close()
    }
  } catch (cause) {
    throw nodeError('FILE_UNREADABLE', file, { cause })
  }
}
