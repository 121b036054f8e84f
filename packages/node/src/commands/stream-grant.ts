import { defineCommand } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { streamArgument } from '../cli/stream-argument.ts'
import { withClient } from '../cli/with-client.ts'
import { grantPositionals, parseDate, parsePermissions, parseUser, readCardFile } from './grant-arguments.ts'

export const streamGrant = defineCommand({
  name: 'stream grant',
  describe: 'Grant permissions on a stream to a user, or to everybody',
  positionals: grantPositionals,
  options: {
    ...userOptions,
    until: {
      type: 'string',
      describe: 'When publish and subscribe permissions end, such as 2030-01-31',
    },
    card: {
      type: 'string',
      describe: 'File with the user’s card, if storage nodes do not have it yet',
    },
  },
  examples: [
    ['stream grant 0xowner/lobby public publish subscribe --key owner.key', 'Everybody may use it'],
    [
      'stream grant 0xowner/lobby 0x5b38…ddc4 publish --until 2030-01-31 --key owner.key',
      'One user may publish until that date',
    ],
    [
      'stream grant 0xowner/private 0x5b38…ddc4 subscribe --card alice.card --key owner.key',
      'One user may read, including stored messages, even if nobody else is online',
    ],
  ],
  epilogue:
    'In an encrypted stream, a user who gets subscribe also gets the keys that the granting user can open. Make a card file with: runnel reading-key card.',
  run: async ({ stream, user, permissions, until, card: cardFile, json, ...network }) => {
    const streamOf = streamArgument(stream)
    const grant = { user: parseUser(user), permissions: parsePermissions(permissions) }
    const expiry = until === undefined ? {} : { expiresAt: parseDate(until) }
    const card = cardFile === undefined ? undefined : readCardFile(cardFile)
    await withClient(network, { needsKey: true }, async (client) => {
      const id = streamOf(client)
      await client.grant(id, { ...grant, ...expiry, card })
      printResult({ id, ...grant, ...expiry }, json, [
        `granted ${grant.permissions.join(', ')} on ${id} to ${grant.user}`,
      ])
    })
  },
})
