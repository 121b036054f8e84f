import { toNodeId } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { withClient } from '../cli/with-client.ts'
import { nodeError } from '../errors.ts'

export const keyRevoke = defineCommand({
  name: 'key revoke',
  describe: 'Revoke delegations, with a transaction on the chain',
  positionals: { delegate: { describe: 'Address that may no longer act for your key' } },
  options: {
    ...networkOptions,
    all: { type: 'boolean', default: false, describe: 'Revoke all delegations made until now' },
  },
  examples: [
    [
      'key revoke 0x5b38…ddc4 --network network.json --key my.key',
      'Shuts that key out within seconds, for good',
    ],
    [
      'key revoke --all --network network.json --key my.key',
      'Every delegation of my.key, including forgotten ones',
    ],
  ],
  epilogue:
    'Needs the key of the user, and some of the chain’s currency. What was published before stays valid. A revoked delegate cannot be admitted again: make a new key with runnel key delegate.',
  run: async ({ delegate, all, json, ...network }) => {
    if (all === (delegate !== undefined)) throw nodeError('USAGE', 'key revoke takes an address, or --all')
    const delegateId = delegate === undefined ? undefined : toNodeId(delegate)
    await withClient(network, { needsKey: true }, async (client) => {
      if (delegateId === undefined) await client.revokeDelegations()
      else await client.revokeDelegate(delegateId)
      printResult({ revoked: delegateId ?? 'all' }, json, [`revoked ${delegateId ?? 'all delegations'}`])
    })
  },
})
