import { defineCommand } from '../cli/command.ts'
import { memberOptions } from '../cli/common-options.ts'
import { streamPositional } from '../cli/stream-argument.ts'
import { printResend } from './print-resend.ts'
import { formatOptions, resendOptions } from './resend-options.ts'

export const resendTable = defineCommand({
  name: 'resend table',
  describe: 'Print the newest stored message of each key, one JSON value a line',
  positionals: { stream: streamPositional },
  options: { ...memberOptions, ...formatOptions, partition: resendOptions.partition },
  examples: [['resend table /sensors --meta', 'With the keys']],
  epilogue:
    'Verified, in order of time, without keys that were removed; messages without a key are in no table. Ends with 69 when there is no storage node or none answers, 77 without permission to subscribe.',
  run: ({ stream, ...args }) =>
    printResend(stream, 'table', { ...args, publisher: undefined, recording: undefined }),
})
