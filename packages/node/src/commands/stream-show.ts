import { clearUntilMs, encryptionChoiceIn } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { streamArgument, streamPositional } from '../cli/stream-argument.ts'
import { withClient } from '../cli/with-client.ts'
import { describeEncryption } from './encryption-text.ts'
import { describePermissions, permissionsAsJson } from './permissions-text.ts'

export const streamShow = defineCommand({
  name: 'stream show',
  describe: 'Print a stream and its permissions',
  positionals: { stream: streamPositional },
  options: userOptions,
  examples: [['stream show 0xowner/lobby --network network.json --json', '']],
  run: async ({ stream, json, ...network }) => {
    const streamOf = streamArgument(stream)
    await withClient(network, {}, async (client) => {
      const streamId = streamOf(client)
      const info = await client.getStream(streamId)
      const permissions = await client.getPermissions(streamId)
      const choice = encryptionChoiceIn(info.metadata)
      const publicUntilMs = permissions.find(({ user }) => user === 'public')?.subscribeUntilMs ?? 0
      const nowMs = Date.now()
      const encryption = { isEncrypted: clearUntilMs(choice, publicUntilMs) <= nowMs, ...choice }
      printResult({ ...info, encryption, permissions: permissions.map(permissionsAsJson) }, json, [
        `stream      ${info.id}`,
        `partitions  ${info.partitions}`,
        `metadata    ${info.metadata}`,
        `trackers    ${info.trackers.join(' ') || "the network's"}`,
        ...describeEncryption(choice, publicUntilMs, nowMs),
        ...permissions.map((user) => `permission  ${describePermissions(user)}`),
      ])
    })
  },
})
