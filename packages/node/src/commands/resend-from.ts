import { defineCommand } from '../cli/command.ts'
import { streamPositional } from '../cli/stream-argument.ts'
import { printResend } from './print-resend.ts'
import { parsePlace, resendEpilogue, resendOptions } from './resend-options.ts'

export const resendFrom = defineCommand({
  name: 'resend from',
  describe: 'Print the stored messages of a stream since a time, one JSON value per line',
  positionals: {
    time: { describe: 'ISO 8601, Unix milliseconds, or how long ago: -10m', required: true },
    stream: streamPositional,
  },
  options: resendOptions,
  examples: [
    ['resend from -10m 0xowner/lobby --network network.json', 'The last ten minutes'],
    ['resend from 2030-01-31T12:00:00Z 0xowner/lobby --network network.json --meta', ''],
  ],
  epilogue: resendEpilogue,
  run: ({ time, stream, ...args }) =>
    printResend(stream, { from: parsePlace(time, 'first', 'resend from') }, args),
})
