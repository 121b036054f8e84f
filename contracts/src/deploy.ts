import { ContractFactory, type InterfaceAbi, type Signer } from '@runnel/contracts/ethers'
import { ContractsError } from './errors.ts'
import * as permissionedTracker from './generated/permissioned-tracker-registry.ts'
import * as storage from './generated/storage-registry.ts'
import * as stream from './generated/stream-registry.ts'
import * as openTracker from './generated/tracker-registry.ts'
import type { RegistryAddresses } from './registries.ts'
import { untilMined } from './rpc/mined.ts'
import { RpcError } from './rpc/rpc-error.ts'

export interface DeployOptions {
  /** A private network: the tracker registry lists the nodes that may take part. Default false. */
  readonly permissioned?: boolean | undefined
  /** The owner of the tracker registry, such as the multisig of a consortium. Default: the signer. */
  readonly owner?: string | undefined
}

/** Deploys the three registries, one after the other, and waits until each is mined. Throws DEPLOY_FAILED. */
export async function deployRegistries(
  signer: Signer,
  { permissioned = false, owner: givenOwner }: DeployOptions = {},
): Promise<RegistryAddresses> {
  try {
    const owner = givenOwner ?? (await signer.getAddress())
    const tracker = permissioned ? permissionedTracker : openTracker
    // Asked for once and counted on: where blocks come at once, a provider's cache would give the same nonce twice.
    const nonce = await signer.getNonce('pending')
    const trackerRegistry = await deployContract(tracker, signer, [owner, { nonce }])
    const streamRegistry = await deployContract(stream, signer, [{ nonce: nonce + 1 }])
    const storageRegistry = await deployContract(storage, signer, [streamRegistry, { nonce: nonce + 2 }])
    return { trackerRegistry, streamRegistry, storageRegistry }
  } catch (cause) {
    throw new ContractsError('DEPLOY_FAILED', reasonOf(cause), { cause })
  }
}

/** Deploys one contract, waits until it is mined, and returns its address. */
export async function deployContract(
  compiled: { readonly abi: InterfaceAbi; readonly bytecode: string },
  signer: Signer,
  args: readonly unknown[],
): Promise<string> {
  const contract = await new ContractFactory(compiled.abi, compiled.bytecode, signer).deploy(...args)
  const transaction = contract.deploymentTransaction()
  if (transaction !== null) await untilMined(transaction)
  return contract.getAddress()
}

/** The full message of an ethers error repeats the transaction, bytecode and all. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  if (cause instanceof RpcError) return `${cause.code} ${cause.message}`
  return 'shortMessage' in cause ? String(cause.shortMessage) : cause.message
}
