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
  describe: 'Print what a storage node keeps as lines of JSON, also while it runs',
  positionals: { streams: { describe: 'Stream ids; none: all', many: true } },
  options: {
    ...settingOptions,
    from: {
      type: 'string',
      requiresArg: true,
      describe: 'ISO 8601, Unix milliseconds, or how long ago: -10m',
    },
    to: { type: 'string', requiresArg: true, describe: 'The same; what is of this very time belongs to it' },
  },
  examples: [
    ['storage export | gzip > all.ndjson.gz', 'Of the node that runnel.json describes'],
    ['storage export 0xowner/lobby --from -24h > lobby.ndjson', 'A day of one stream, with its keys'],
  ],
  epilogue:
    'Takes the flags of: runnel node. A line for each batch as its publisher signed it, in base64, so that nothing can be changed unnoticed. What is encrypted stays so; keys that storage nodes keep for readers are sealed messages, and part of it.',
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
