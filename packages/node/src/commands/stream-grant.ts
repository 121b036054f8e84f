import { toStreamId } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { withClient } from '../cli/with-client.ts'
import { grantPositionals, parseDate, parsePermissions, parseUser } from './grant-arguments.ts'

export const streamGrant = defineCommand({
  name: 'stream grant',
  describe: 'Give somebody, or everybody, permissions on a stream',
  positionals: grantPositionals,
  options: {
    ...userOptions,
    until: {
      type: 'string',
      requiresArg: true,
      describe: 'When publish and subscribe end, such as 2030-01-31',
    },
  },
  examples: [
    ['stream grant 0xowner/lobby public publish subscribe --key owner.key', 'Everybody may use it'],
    [
      'stream grant 0xowner/lobby 0x5b38…ddc4 publish --until 2030-01-31 --key owner.key',
      'One may publish for a while',
    ],
  ],
  run: async ({ stream, user, permissions, until, json, ...network }) => {
    const id = toStreamId(stream)
    const grant = { user: parseUser(user), permissions: parsePermissions(permissions) }
    const expiry = until === undefined ? {} : { expiresAt: parseDate(until) }
    await withClient(network, { needsKey: true }, async (client) => {
      await client.grant(id, { ...grant, ...expiry })
      printResult({ id, ...grant, ...expiry }, json, [
        `granted ${grant.permissions.join(', ')} on ${id} to ${grant.user}`,
      ])
    })
  },
})
