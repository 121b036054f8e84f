import { Contract, type ContractRunner } from 'ethers'
import type { ContractAbi, TypedContract } from './abi-types.ts'
import { abi as storageRegistryAbi } from './generated/storage-registry.ts'
import { abi as streamRegistryAbi } from './generated/stream-registry.ts'
import { abi as trackerRegistryAbi } from './generated/tracker-registry.ts'

/** Where the three registries of a deployment stand. */
export interface RegistryAddresses {
  readonly trackerRegistry: string
  readonly streamRegistry: string
  readonly storageRegistry: string
}

export type TrackerRegistry = TypedContract<typeof trackerRegistryAbi>
export type StreamRegistry = TypedContract<typeof streamRegistryAbi>
export type StorageRegistry = TypedContract<typeof storageRegistryAbi>

/** The tracker registry at an address. A provider as the runner reads only, a signer writes too. */
export function trackerRegistry(address: string, runner: ContractRunner): TrackerRegistry {
  return bind(address, trackerRegistryAbi, runner)
}

/** The stream registry at an address. A provider as the runner reads only, a signer writes too. */
export function streamRegistry(address: string, runner: ContractRunner): StreamRegistry {
  return bind(address, streamRegistryAbi, runner)
}

/** The storage registry at an address. A provider as the runner reads only, a signer writes too. */
export function storageRegistry(address: string, runner: ContractRunner): StorageRegistry {
  return bind(address, storageRegistryAbi, runner)
}

/** ethers makes the methods at run time from the same ABI the types are derived from. */
function bind<const Abi extends ContractAbi>(
  address: string,
  abi: Abi,
  runner: ContractRunner,
): TypedContract<Abi> {
  return new Contract(address, abi, runner) as unknown as TypedContract<Abi>
}
