import { storageError, storeConfigOf } from '@runnel/storage'
import { messageFileIn, SqliteFile } from '@runnel/storage/backup'
import { defineCommand } from '../cli/command.ts'
import { printResult } from '../cli/output.ts'
import { configOfFlags, settingOptions } from '../cli/setting-options.ts'

export const storageBackup = defineCommand({
  name: 'storage backup',
  describe: 'Copy all that a storage node keeps into one SQLite file, also while it runs',
  positionals: { file: { describe: 'File to make', required: true } },
  options: settingOptions,
  examples: [
    ['storage backup /backup/messages.sqlite', 'Of the node that runnel.json describes'],
    ['storage backup today.sqlite --storage-directory /var/lib/runnel/storage', 'Of this directory'],
  ],
  epilogue:
    'Takes the flags of: runnel node. The copy is checked, and readable for this user only. To restore, either put it in the directory of a stopped node as messages.sqlite, without the -wal and -shm of the old one, or: runnel storage import FILE.',
  run: async ({ file, json, ...args }) => {
    const config = storeConfigOf(configOfFlags(args).storage)
    if (config.engine !== 'sqlite') throw storageError('NO_SINGLE_FILE', config.engine)
    const store = SqliteFile.open(messageFileIn(config.directory))
    try {
      const bytes = await store.copyTo(file)
      printResult({ file, bytes }, json, [`${file}: ${bytes} bytes`])
    } finally {
      await store.close()
    }
  },
})
