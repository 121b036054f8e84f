import { defineCommand, type Command } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { streamArgument, streamPositional } from '../cli/stream-argument.ts'
import { withClient } from '../cli/with-client.ts'
import { readersText } from '../encryption-news.ts'

export const streamRotate = defineCommand({
  name: 'stream rotate',
  describe: 'Make a new key now, for what you publish to a stream, or for all of it as its key holder',
  positionals: { stream: streamPositional },
  options: userOptions,
  examples: [['stream rotate 0xowner/private --network network.json --key my.key', '']],
  epilogue:
    'For when a key has leaked. Your processes that run go over to it. It does not close what was published before, and reaches everybody who may read: first revoke who should not, or have them renew their reading key.',
  run: async ({ stream, json, ...network }) => {
    const streamOf = streamArgument(stream)
    await withClient(network, {}, async (client) => {
      const id = streamOf(client)
      const rotated = await client.rotateKeys(id)
      const { epochId, readers, isStored } = rotated
      const remark = isStored ? '' : '; no storage node has it, so only those that are here get it'
      printResult({ id, ...rotated }, json, [`${epochId} for ${readersText(readers)}${remark}`])
    })
  },
})

/** The same, for who looks for it among the keys. */
export const keyRotate: Command = {
  ...streamRotate,
  name: 'key rotate',
  describe: 'As stream rotate: make a new key now, with which a stream is encrypted',
  examples: [['key rotate 0xowner/private --network network.json --key my.key', '']],
}
