import { Contract, type ContractRunner, type Overrides } from '@runnel/contracts/ethers'
import type { ContractAbi, TypedContract } from './abi-types.ts'
import { abi as permissionedTrackerRegistryAbi } from './generated/permissioned-tracker-registry.ts'
import { abi as storageRegistryAbi } from './generated/storage-registry.ts'
import { abi as streamRegistryAbi } from './generated/stream-registry.ts'
import { abi as trackerRegistryAbi } from './generated/tracker-registry.ts'

/** Where the three registries of a deployment stand. */
export interface RegistryAddresses {
  readonly trackerRegistry: string
  readonly streamRegistry: string
  readonly storageRegistry: string
}

export type PermissionedTrackerRegistry = TypedContract<typeof permissionedTrackerRegistryAbi>
export type TrackerRegistry = TypedContract<typeof trackerRegistryAbi>
export type StreamRegistry = TypedContract<typeof streamRegistryAbi>
export type StorageRegistry = TypedContract<typeof storageRegistryAbi>

/** The tracker registry at an address. A provider as the runner reads only, a signer writes too. */
export function trackerRegistry(address: string, runner: ContractRunner): TrackerRegistry {
  return bind(address, trackerRegistryAbi, runner)
}

/** The tracker registry of a private network at an address; `listsNodes` tells whether there is one. A provider as the runner reads only, a signer writes too. */
export function permissionedTrackerRegistry(
  address: string,
  runner: ContractRunner,
): PermissionedTrackerRegistry {
  return bind(address, permissionedTrackerRegistryAbi, runner)
}

/** The ERC-165 identifier of `IPermissionedTrackerRegistry`: all its selectors, combined by exclusive or. */
export const permissionedTrackerRegistryId = '0xf0f0135a'

/** Whether the tracker registry at an address lists the nodes that may take part, by ERC-165. No answer is not taken for a no. */
export function listsNodes(
  address: string,
  runner: ContractRunner,
  overrides: Overrides = {},
): Promise<boolean> {
  return trackerRegistry(address, runner).supportsInterface(permissionedTrackerRegistryId, overrides)
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
