import { readDelegationFile } from '@runnel/client'
import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { readNetwork } from '../cli/network-source.ts'
import { printResult } from '../cli/output.ts'
import { chainIdOf } from '../cli/with-chain.ts'
import {
  parseDelegation,
  problemOfHolder,
  shownDelegation,
  type ShownDelegation,
} from '../keys/delegations.ts'

/** What is in a delegation file, and what is wrong with it. */
interface ListedDelegation extends ShownDelegation {
  readonly file: string
  readonly problem: { readonly code: string; readonly message: string } | undefined
}

export const keyDelegations = defineCommand({
  name: 'key delegations',
  describe: 'Print what is in delegation files, and whether it is still good; never the keys',
  positionals: { files: { describe: 'Delegation files', required: true, many: true } },
  options: { network: networkOptions.network },
  examples: [
    [
      'key delegations server.delegation',
      'Who acts for whom, until when, and what is wrong with it, if anything',
    ],
    ['key delegations *.delegation --network network.json', 'Also whether they are for this chain'],
  ],
  run: async ({ files, network, json }) => {
    const chainId = network === undefined ? undefined : await chainIdOf(readNetwork(network))
    const listed = await Promise.all(files.map((file) => readListed(file, chainId)))
    printResult(listed, json, listed.flatMap(linesOf))
  },
})

async function readListed(file: string, chainId: number | undefined): Promise<ListedDelegation> {
  const { privateKey, delegation: text } = readDelegationFile(file)
  const delegation = parseDelegation(text)
  const problem = await problemOfHolder(delegation, { privateKey, chainId, wallMs: Date.now() })
  const said = problem && { code: problem.code, message: problem.message }
  return { file, ...shownDelegation(delegation), problem: said }
}

function linesOf({ file, problem, ...shown }: ListedDelegation): string[] {
  const { user, delegate, rights, streams, from, until, label, chainId } = shown
  return [
    file,
    `  user      ${user}`,
    `  delegate  ${delegate}`,
    `  may       ${rights.join(' and ')}`,
    `  streams   ${streams.length === 0 ? 'all' : streams.join(' ')}`,
    `  from      ${from}`,
    `  until     ${until}`,
    `  chain     ${chainId}`,
    `  label     ${label}`,
    ...(problem === undefined ? [] : [`  problem   ${problem.message} (${problem.code})`]),
  ]
}
