import { readDelegationFile } from '@runnel/client'
import { delegationRevokedAt } from '@runnel/contracts'
import { protocolError, type Delegation, type RunnelError } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { readNetwork, type DescribedNetwork } from '../cli/network-source.ts'
import { printResult } from '../cli/output.ts'
import { chainIdOf, withProvider } from '../cli/with-chain.ts'
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

/** What a network knows of delegations. */
interface Registry {
  readonly chainId: number
  /** When its user took a delegation back, in Unix milliseconds; undefined where it did not. */
  revokedMs(delegation: Delegation): Promise<number | undefined>
}

export const keyDelegations = defineCommand({
  name: 'key delegations',
  describe: 'Print what is in delegation files, and whether it is still good; never the keys',
  positionals: { files: { describe: 'Delegation files', required: true, many: true } },
  options: {
    network: {
      ...networkOptions.network,
      describe: 'Network file: also ask its chain whether they were taken back',
    },
  },
  examples: [
    [
      'key delegations server.delegation',
      'Who acts for whom, until when, and what is wrong with it, if anything',
    ],
    ['key delegations *.delegation --network network.json', 'Also whether they were taken back'],
  ],
  run: async ({ files, network, json }) => {
    const list = (registry?: Registry) => Promise.all(files.map((file) => readListed(file, registry)))
    const listed = network === undefined ? await list() : await withRegistry(readNetwork(network), list)
    printResult(listed, json, listed.flatMap(linesOf))
  },
})

/** In a network without a chain nothing can be taken back. */
async function withRegistry<T>(
  source: DescribedNetwork,
  work: (registry: Registry) => Promise<T>,
): Promise<T> {
  if (source.kind === 'static')
    return work({ chainId: await chainIdOf(source), revokedMs: async () => undefined })
  const { rpcUrl, registries } = source
  return withProvider(rpcUrl, (provider, chainId) => {
    const revokedMs = async (delegation: Delegation) => {
      const seconds = await delegationRevokedAt(registries.streamRegistry, provider, delegation)
      return seconds === undefined || seconds === 0n ? undefined : Number(seconds) * 1000
    }
    return work({ chainId, revokedMs })
  })
}

async function readListed(file: string, registry: Registry | undefined): Promise<ListedDelegation> {
  const { privateKey, delegation: text } = readDelegationFile(file)
  const delegation = parseDelegation(text)
  const holder = { privateKey, chainId: registry?.chainId, wallMs: Date.now() }
  const problem = (await problemOfHolder(delegation, holder)) ?? (await revocation(delegation, registry))
  const said = problem && { code: problem.code, message: problem.message }
  return { file, ...shownDelegation(delegation), problem: said }
}

async function revocation(
  delegation: Delegation,
  registry: Registry | undefined,
): Promise<RunnelError | undefined> {
  const revokedMs = await registry?.revokedMs(delegation)
  return revokedMs === undefined
    ? undefined
    : protocolError('DELEGATION_REVOKED', new Date(revokedMs).toISOString())
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
