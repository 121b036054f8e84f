import { compareRefs } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { streamPositional } from '../cli/stream-argument.ts'
import { nodeError } from '../errors.ts'
import { printResend } from './print-resend.ts'
import { parsePlace, resendEpilogue, resendOptions } from './resend-options.ts'

export const resendRange = defineCommand({
  name: 'resend range',
  describe: 'Print the stored messages of a stream between two times, one JSON value per line',
  positionals: {
    from: { describe: 'ISO 8601, Unix milliseconds, or how long ago: -10m', required: true },
    to: { describe: 'Same format; messages of exactly this time are included', required: true },
    stream: streamPositional,
  },
  options: resendOptions,
  examples: [
    [
      'resend range -2h -1h 0xowner/lobby --network network.json',
      'One hour, from two hours ago to one hour ago',
    ],
  ],
  epilogue: resendEpilogue,
  run: async ({ from, to, stream, ...args }) => {
    const first = parsePlace(from, 'first', 'resend range')
    const last = parsePlace(to, 'last', 'resend range')
    if (compareRefs(first, last) > 0) throw nodeError('USAGE', `"${from}" is after "${to}"`)
    await printResend(stream, { from: first, to: last }, args)
  },
})
