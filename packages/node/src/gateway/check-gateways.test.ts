import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newDirectory } from '../cli.testkit.ts'
import { parseConfig } from '../config/load-config.ts'
import { startBroker } from '../node.ts'
import { checkGateways } from './check-gateways.ts'

const directory = newDirectory()

describe('gateways are checked before anything is opened:', () => {
  it('a gateway needs keys', () => {
    const config = parseConfig({ network: 'n', mqtt: { enabled: true } })
    const check = () => checkGateways(config, { warn: () => {} })
    expect(check).toThrow(expect.objectContaining({ code: 'GATEWAY_NO_KEYS' }))
  })

  it('keys that no gateway asks for are told of', () => {
    const warned: unknown[] = []
    const logger = { warn: (fields: unknown) => void warned.push(fields) }
    const gateway = { keysFile: '/keys.json' }
    expect(checkGateways(parseConfig({ network: 'n', gateway }), logger)).toBe(false)
    expect(warned).toEqual([{ keysFile: '/keys.json' }])
    expect(
      checkGateways(parseConfig({ network: 'n', gateway, httpGateway: { enabled: true } }), logger),
    ).toBe(true)
    expect(warned).toHaveLength(1)
  })

  it('a file of keys that is missing is named, with the command that makes one', async () => {
    const keysFile = join(directory, 'no-keys.json')
    // Nothing of that network is there, either.
    const config = parseConfig({
      ...{ network: join(directory, 'no-network.json'), logLevel: 'silent' },
      ...{ gateway: { keysFile }, mqtt: { enabled: true } },
    })
    await expect(startBroker(config, { env: {}, directory })).rejects.toMatchObject({
      code: 'GATEWAY_FILE_MISSING',
      message: expect.stringContaining(keysFile),
      remedy: expect.stringContaining('runnel gateway key new'),
    })
  })
})
