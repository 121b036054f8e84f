import { defineCommand } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { streamArgument } from '../cli/stream-argument.ts'
import { withClient } from '../cli/with-client.ts'
import { grantPositionals, parsePermissions, parseUser } from './grant-arguments.ts'

export const streamRevoke = defineCommand({
  name: 'stream revoke',
  describe: 'Revoke permissions on a stream',
  positionals: grantPositionals,
  options: userOptions,
  examples: [
    [
      'stream revoke 0xowner/lobby public publish --key owner.key',
      'Only users with their own permission may then publish',
    ],
  ],
  run: async ({ stream, user, permissions, json, ...network }) => {
    const streamOf = streamArgument(stream)
    const revoked = { user: parseUser(user), permissions: parsePermissions(permissions) }
    await withClient(network, { needsKey: true }, async (client) => {
      const id = streamOf(client)
      await client.revoke(id, revoked)
      printResult({ id, ...revoked }, json, [
        `revoked ${revoked.permissions.join(', ')} on ${id} from ${revoked.user}`,
      ])
    })
  },
})
