import { expect, it } from 'vitest'
import * as client from './index.ts'

it('exports what it promises, and nothing else', () => {
  expect(Object.keys(client).sort()).toEqual([
    'clientError',
    'clientErrors',
    'createClient',
    'createdToleranceMs',
    'forgetSession',
    'isTrackerUrl',
    'keySigner',
    'keysOnly',
    'memoryStore',
    'oldestOfStreamMs',
    'openRegistry',
    'openSession',
    'partitionOfKey',
    'predates',
    'readDelegationFile',
    'readKeyFile',
    'readNetworkFile',
    'readTokenFile',
    'readUserFile',
    'remoteSigner',
    'requestDelegation',
    'shownUrl',
    'typeInside',
    'walletSigner',
    'writeDelegationFile',
    'writeKeyFile',
  ])
})
