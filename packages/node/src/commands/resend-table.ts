import { defineCommand } from '../cli/command.ts'
import { memberOptions } from '../cli/common-options.ts'
import { streamPositional } from '../cli/stream-argument.ts'
import { printResend } from './print-resend.ts'
import { formatOptions, resendOptions } from './resend-options.ts'

export const resendTable = defineCommand({
  name: 'resend table',
  describe: 'Print the newest stored message of each key, one JSON value per line',
  positionals: { stream: streamPositional },
  options: { ...memberOptions, ...formatOptions, partition: resendOptions.partition },
  examples: [['resend table /sensors --meta', 'With the keys']],
  epilogue:
    'Messages are verified and in order of time. Removed keys and messages without a key are left out. Exits with 69 if there is no storage node or none answers, and with 77 without permission to subscribe.',
  run: ({ stream, ...args }) =>
    printResend(stream, 'table', { ...args, publisher: undefined, recording: undefined }),
})
