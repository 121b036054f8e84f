import { storageError, storeConfigOf } from '@runnel/storage'
import { messageFileIn, SqliteFile } from '@runnel/storage/backup'
import { defineCommand } from '../cli/command.ts'
import { printResult } from '../cli/output.ts'
import { configOfFlags, settingOptions } from '../cli/setting-options.ts'

export const storageBackup = defineCommand({
  name: 'storage backup',
  describe: 'Copy everything that a storage node keeps into one SQLite file, even while it runs',
  positionals: { file: { describe: 'File to write', required: true } },
  options: settingOptions,
  examples: [
    ['storage backup /backup/messages.sqlite', 'The node that runnel.json describes'],
    [
      'storage backup today.sqlite --storage-directory /var/lib/runnel/storage',
      'The node with this directory',
    ],
  ],
  epilogue:
    'Takes the same flags as runnel node. The copy is checked, and only this user can read it. To restore it, run: runnel storage import FILE. Or put it into the directory of a stopped node as messages.sqlite, and remove the -wal and -shm files of the old one.',
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
