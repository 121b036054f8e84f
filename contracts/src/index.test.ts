import { expect, it } from 'vitest'
import * as contracts from './index.ts'

it('exports what it promises, and nothing else', () => {
  expect(Object.keys(contracts).sort()).toEqual([
    'ContractsError',
    'FOREVER',
    'Permission',
    'RpcError',
    'RpcRoute',
    'acceptsSignature',
    'contractsErrors',
    'decodeRegistryError',
    'delegationRevokedAt',
    'deployRegistries',
    'listsNodes',
    'permissionName',
    'permissionedTrackerRegistry',
    'permissionedTrackerRegistryAbi',
    'permissionedTrackerRegistryId',
    'quorumOf',
    'rpcSecrets',
    'rpcUrlsOf',
    'storageRegistry',
    'storageRegistryAbi',
    'streamRegistry',
    'streamRegistryAbi',
    'textOf',
    'trackerRegistry',
    'trackerRegistryAbi',
    'untilMined',
  ])
})
