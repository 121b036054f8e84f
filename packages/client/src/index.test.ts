import { expect, it } from 'vitest'
import * as client from './index.ts'

it('exports what it promises, and nothing else', () => {
  expect(Object.keys(client).sort()).toEqual([
    'clientError',
    'clientErrors',
    'createClient',
    'createdToleranceMs',
    'isTrackerUrl',
    'oldestOfStreamMs',
    'openRegistry',
    'partitionOfKey',
    'predates',
    'readDelegationFile',
    'readKeyFile',
    'readNetworkFile',
    'readUserFile',
    'shownUrl',
    'typeInside',
    'writeDelegationFile',
    'writeKeyFile',
  ])
})
