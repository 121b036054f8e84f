import { defineCommand } from '../cli/command.ts'
import { streamPositional } from '../cli/stream-argument.ts'
import { printResend } from './print-resend.ts'
import { parseCount, resendEpilogue, resendOptions } from './resend-options.ts'

export const resendLast = defineCommand({
  name: 'resend last',
  describe: 'Print the last stored messages of a stream, one JSON value per line',
  positionals: {
    count: { describe: 'How many', required: true },
    stream: streamPositional,
  },
  options: resendOptions,
  examples: [['resend last 20 0xowner/system/cpu --network .runnel/up/network.json', '']],
  epilogue: resendEpilogue,
  run: ({ count, stream, ...args }) => printResend(stream, { last: parseCount(count, 'resend last') }, args),
})
