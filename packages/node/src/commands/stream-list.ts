import { defineCommand } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { withClient } from '../cli/with-client.ts'
import { nodeError } from '../errors.ts'
import { parsePermissions } from './grant-arguments.ts'

const filters = {
  ...userOptions,
  owner: { type: 'string', describe: 'Only streams of this address' },
  mine: { type: 'boolean', describe: 'Only your own' },
  can: {
    type: 'string',
    describe: 'Only streams on which you have this permission: publish, subscribe, edit, delete, grant',
  },
  user: {
    type: 'string',
    describe: 'With --can: permissions of this user instead of yours',
  },
} as const

const prefixPositional = { describe: 'Prefix of stream ids: 0xowner/sensors/, or /sensors/ for your own' }

const list = (name: 'stream list' | 'stream search') =>
  defineCommand({
    name,
    describe:
      name === 'stream list'
        ? 'Print the ids of streams'
        : 'Print the ids of streams with a prefix, or that a user may use',
    positionals: { prefix: prefixPositional },
    options: filters,
    examples: [
      [`${name} --network network.json`, 'A line for each stream'],
      [
        `${name} 0xowner/sensors/ --can publish --network network.json --key my.key`,
        'Streams that you may publish to',
      ],
    ],
    run: async ({ prefix, owner, mine, can, user, json, ...network }) => {
      if (mine && owner !== undefined) throw nodeError('USAGE', '--mine and --owner exclude each other')
      const [permission] = can === undefined ? [] : parsePermissions([can])
      await withClient(network, {}, async (client) => {
        const of = mine ? client.account : owner
        const streams = await client.listStreams({ prefix, owner: of, permission, user })
        const ids = streams.map(({ id }) => id)
        printResult(streams, json, ids)
      })
    },
  })

export const streamList = list('stream list')
export const streamSearch = list('stream search')
