import { clientError, readDelegationFile } from '@runnel/client'
import { acceptsSignature, delegationRevokedAt } from '@runnel/contracts'
import {
  delegationDigest,
  isRunnelError,
  loadCrypto,
  protocolError,
  toHex,
  type Delegation,
  type RunnelError,
} from '@runnel/protocol'
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
  /** Whether the contract that the delegation is of says that the signature is its own now. Throws CONTRACT_NEEDS_CHAIN. */
  isBacked(delegation: Delegation): Promise<boolean>
}

export const keyDelegations = defineCommand({
  name: 'key delegations',
  describe: 'Print the delegations in delegation files, and whether they are valid; never the keys',
  positionals: { files: { describe: 'Delegation files', required: true, many: true } },
  options: {
    network: {
      ...networkOptions.network,
      describe:
        'Network file: also ask its chain whether they were revoked, and contract accounts whether they back theirs',
    },
  },
  examples: [
    ['key delegations server.delegation', 'Who acts for whom, until when, and any problem'],
    [
      'key delegations *.delegation --network network.json',
      'Also whether they were revoked, or are no longer backed by their contract account',
    ],
  ],
  run: async ({ files, network, json }) => {
    const list = (registry?: Registry) => Promise.all(files.map((file) => readListed(file, registry)))
    const listed = network === undefined ? await list() : await withRegistry(readNetwork(network), list)
    printResult(listed, json, listed.flatMap(linesOf))
  },
})

/** In a network without a chain nothing can be taken back, and no contract asked. */
async function withRegistry<T>(
  source: DescribedNetwork,
  work: (registry: Registry) => Promise<T>,
): Promise<T> {
  if (source.kind !== 'chain') {
    const isBacked = ({ userId }: Delegation) => Promise.reject(clientError('CONTRACT_NEEDS_CHAIN', userId))
    return work({ chainId: await chainIdOf(source), revokedMs: async () => undefined, isBacked })
  }
  const { registries } = source
  const crypto = await loadCrypto()
  return withProvider(source, (provider, chainId) =>
    work({
      chainId,
      async revokedMs(delegation) {
        const seconds = await delegationRevokedAt(registries.streamRegistry, provider, delegation)
        return seconds === undefined || seconds === 0n ? undefined : Number(seconds) * 1000
      },
      isBacked(delegation) {
        const { userId: account, signature } = delegation
        const digest = toHex(delegationDigest(delegation, crypto))
        return acceptsSignature(provider, { account, digest, signature })
      },
    }),
  )
}

async function readListed(file: string, registry: Registry | undefined): Promise<ListedDelegation> {
  const { privateKey, delegation: text } = readDelegationFile(file)
  const delegation = parseDelegation(text)
  const holder = { privateKey, chainId: registry?.chainId, wallMs: Date.now() }
  const problem =
    (await problemOfHolder(delegation, holder)) ?? (await problemInRegistry(delegation, registry))
  const said = problem && { code: problem.code, message: problem.message }
  return { file, ...shownDelegation(delegation), problem: said }
}

async function problemInRegistry(
  delegation: Delegation,
  registry: Registry | undefined,
): Promise<RunnelError | undefined> {
  if (registry === undefined) return undefined
  const revokedMs = await registry.revokedMs(delegation)
  if (revokedMs !== undefined) return protocolError('DELEGATION_REVOKED', new Date(revokedMs).toISOString())
  if (delegation.block === 0) return undefined
  try {
    if (await registry.isBacked(delegation)) return undefined
    return protocolError('DELEGATION_REVOKED', `the contract ${delegation.userId} does not back it`)
  } catch (error) {
    if (isRunnelError(error, 'CONTRACT_NEEDS_CHAIN')) return error
    throw error
  }
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
