import { expect, it } from 'vitest'
import * as client from './index.ts'

it('exports what it promises, and nothing else', () => {
  expect(Object.keys(client).sort()).toEqual([
    'cardFingerprint',
    'clientError',
    'clientErrors',
    'createClient',
    'createdToleranceMs',
    'exportReadingKey',
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
    'readReadingKeyFile',
    'readTokenFile',
    'readUserFile',
    'remoteSigner',
    'requestDelegation',
    'shownUrl',
    'typeInside',
    'walletSigner',
    'writeDelegationFile',
    'writeKeyFile',
    'writeReadingKeyFile',
  ])
})
