import { expect, it } from 'vitest'
import * as http from './http/index.ts'
import * as storage from './index.ts'

it('exports what it promises, and nothing else', () => {
  expect(Object.keys(storage).sort()).toEqual([
    'createStore',
    'storageConfigSchema',
    'storageError',
    'storageErrors',
    'storagePlugin',
    'storeConfigOf',
  ])
  expect(Object.keys(http).sort()).toEqual(['accessHeader', 'delegationHeader', 'parsePoint', 'pointHelp'])
})
