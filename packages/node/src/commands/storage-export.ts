import { toStreamId } from '@runnel/protocol'
import { systemClock as clock } from '@runnel/protocol/system'
import { storeConfigOf } from '@runnel/storage'
import { exportLines, openToRead, storedBatches } from '@runnel/storage/backup'
import { defineCommand } from '../cli/command.ts'
import { standardOutput } from '../cli/output.ts'
import { configOfFlags, settingOptions } from '../cli/setting-options.ts'
import { parsePlace } from './resend-options.ts'

export const storageExport = defineCommand({
  name: 'storage export',
  describe: 'Print what a storage node keeps as lines of JSON, even while it runs',
  positionals: { streams: { describe: 'Stream ids. Default: all', many: true } },
  options: {
    ...settingOptions,
    from: {
      type: 'string',
      describe: 'ISO 8601, Unix milliseconds, or how long ago: -10m',
    },
    to: {
      type: 'string',
      describe: 'Same format; messages of exactly this time are included',
    },
  },
  examples: [
    ['storage export | gzip > all.ndjson.gz', 'The node that runnel.json describes'],
    ['storage export 0xowner/lobby --from -24h > lobby.ndjson', 'The last day of one stream, with its keys'],
  ],
  epilogue:
    'Takes the same flags as runnel node. Prints a line for each batch, in base64, as its publisher signed it, so that changes are detected. Encrypted content stays encrypted. The export includes the keys that storage nodes keep for readers, which are encrypted messages themselves.',
  run: async ({ streams, from, to, json: _, ...args }) => {
    const extract = {
      streamIds: streams === undefined || streams.length === 0 ? undefined : streams.map(toStreamId),
      fromMs: from === undefined ? undefined : parsePlace(from, 'first', 'storage export').timestamp,
      toMs: to === undefined ? undefined : parsePlace(to, 'last', 'storage export').timestamp,
    }
    const store = await openToRead(storeConfigOf(configOfFlags(args).storage), { clock })
    const output = standardOutput()
    try {
      for await (const line of exportLines(storedBatches(store, extract)))
        if (!(await output.write(line))) break
    } finally {
      await store.close()
    }
  },
})
