import { ContractFactory, type InterfaceAbi, type Signer } from 'ethers'
import { ContractsError } from './errors.ts'
import * as storage from './generated/storage-registry.ts'
import * as stream from './generated/stream-registry.ts'
import * as tracker from './generated/tracker-registry.ts'
import type { RegistryAddresses } from './registries.ts'

/**
 * Deploys the three registries, one after the other, and waits until each is mined. The signer owns the tracker
 * registry. Throws DEPLOY_FAILED.
 */
export async function deployRegistries(signer: Signer): Promise<RegistryAddresses> {
  try {
    const trackerRegistry = await deploy(tracker, signer, [await signer.getAddress()])
    const streamRegistry = await deploy(stream, signer, [])
    const storageRegistry = await deploy(storage, signer, [streamRegistry])
    return { trackerRegistry, streamRegistry, storageRegistry }
  } catch (cause) {
    throw new ContractsError('DEPLOY_FAILED', cause instanceof Error ? cause.message : undefined, { cause })
  }
}

async function deploy(
  compiled: { readonly abi: InterfaceAbi; readonly bytecode: string },
  signer: Signer,
  args: readonly string[],
): Promise<string> {
  const contract = await new ContractFactory(compiled.abi, compiled.bytecode, signer).deploy(...args)
  await contract.waitForDeployment()
  return contract.getAddress()
}
