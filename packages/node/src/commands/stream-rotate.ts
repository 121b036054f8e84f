import { defineCommand, type Command } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { streamArgument, streamPositional } from '../cli/stream-argument.ts'
import { withClient } from '../cli/with-client.ts'
import { othersText } from '../encryption-news.ts'

export const streamRotate = defineCommand({
  name: 'stream rotate',
  describe: 'Make a new key now for what you publish to a stream; as its key holder, for all of it',
  positionals: { stream: streamPositional },
  options: userOptions,
  examples: [['stream rotate 0xowner/private --network network.json --key my.key', '']],
  epilogue:
    'Use it when a key has leaked. Your running processes switch to the new key. Earlier messages stay readable with the old key. The new key goes to everybody who may read: first revoke those who should not, or have them renew their reading key.',
  run: async ({ stream, json, ...network }) => {
    const streamOf = streamArgument(stream)
    await withClient(network, {}, async (client) => {
      const id = streamOf(client)
      const rotated = await client.rotateKeys(id)
      const { epochId, readers, isStored } = rotated
      const remark = isStored ? '' : '; no storage node has it, so only readers that are online get it'
      printResult({ id, ...rotated }, json, [`${epochId} for ${othersText(readers)}${remark}`])
    })
  },
})

/** The same, for who looks for it among the keys. */
export const keyRotate: Command = {
  ...streamRotate,
  name: 'key rotate',
  describe: 'Same as stream rotate: make a new key for an encrypted stream now',
  examples: [['key rotate 0xowner/private --network network.json --key my.key', '']],
}
