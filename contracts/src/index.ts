export { acceptsSignature, type SignatureQuestion } from './contract-signature.ts'
export {
  contractsErrors,
  ContractsError,
  type ContractsErrorCode,
  type ContractsErrorEntry,
} from './errors.ts'
export { decodeRegistryError, type RegistryError } from './decode-error.ts'
export { deployRegistries, type DeployOptions } from './deploy.ts'
export { FOREVER, Permission, permissionName, type PermissionName } from './permission.ts'
export {
  listsNodes,
  permissionedTrackerRegistry,
  permissionedTrackerRegistryId,
  storageRegistry,
  streamRegistry,
  trackerRegistry,
  type PermissionedTrackerRegistry,
  type RegistryAddresses,
  type StorageRegistry,
  type StreamRegistry,
  type TrackerRegistry,
} from './registries.ts'
export { delegationRevokedAt, type DelegationKey } from './revoked-at.ts'
export { untilMined, type SentTransaction } from './rpc/mined.ts'
export { RpcError, type RpcErrorCode } from './rpc/rpc-error.ts'
export type { RpcState, RpcStatus } from './rpc/rpc-endpoint.ts'
export { quorumOf, RpcRoute, rpcUrlsOf, type RpcEndpoints, type RpcModules } from './rpc/rpc-provider.ts'
export { rpcSecrets, type RpcSecrets } from './rpc-secrets.ts'
export { textOf } from './text-of.ts'
export type { ContractAbi, ErrorArgs, EventArgs, TypedContract } from './abi-types.ts'
export { abi as permissionedTrackerRegistryAbi } from './generated/permissioned-tracker-registry.ts'
export { abi as storageRegistryAbi } from './generated/storage-registry.ts'
export { abi as streamRegistryAbi } from './generated/stream-registry.ts'
export { abi as trackerRegistryAbi } from './generated/tracker-registry.ts'
