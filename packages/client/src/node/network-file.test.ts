import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readNetworkFile } from './network-file.ts'

const directory = mkdtempSync(join(tmpdir(), 'runnel-network-'))
afterAll(() => rmSync(directory, { recursive: true }))

function file(name: string, content: unknown): string {
  const path = join(directory, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const address = `0x${'a'.repeat(40)}`
const chain = {
  rpcUrl: 'http://127.0.0.1:8545',
  chainId: 31337,
  registries: { trackerRegistry: address, streamRegistry: address, storageRegistry: address },
}
const document = { version: 1, trackers: [], streams: [] }

describe('a network file', () => {
  it('names a chain', () => {
    expect(readNetworkFile(file('chain', { version: 1, chain }))).toEqual({ kind: 'chain', ...chain })
  })

  it('or is the network itself', () => {
    expect(readNetworkFile(file('static', document))).toEqual({ kind: 'static', document })
  })

  it('that is missing is said to be', () => {
    expect(() => readNetworkFile(join(directory, 'none'))).toThrow(
      expect.objectContaining({ code: 'NETWORK_FILE_MISSING', message: expect.stringContaining('none') }),
    )
    expect(() => readNetworkFile(directory)).toThrow(
      expect.objectContaining({ code: 'NETWORK_FILE_UNREADABLE' }),
    )
  })

  it.each([
    ['no JSON', '{"version": 1,,}', /is not JSON: .*position 14/],
    ['an unknown key', { ...document, extra: 1 }, /"extra"/],
    ['another version', { version: 2, chain }, /version: must be 1/],
    ['an unknown key of the chain', { version: 1, chain: { ...chain, rpcURL: 'x' } }, /chain: .*"rpcURL"/],
    [
      'a registry that is no address',
      { version: 1, chain: { ...chain, registries: { ...chain.registries, streamRegistry: '0x1' } } },
      /chain\.registries\.streamRegistry: must be/,
    ],
    [
      'a stream with a mistake',
      { ...document, streams: [{ id: `${address}/a`, partitions: 'two' }] },
      /streams\[0\]\.partitions: /,
    ],
    ['a list', [], /\(top level\): must be an object \{…\}, is a list/],
    [
      'nothing about trackers',
      { version: 1, streams: 'x' },
      /trackers: is missing; streams: must be a list, is text/,
    ],
  ])('with %s is refused, and says where', (name, content, message) => {
    expect(() => readNetworkFile(file(name, content))).toThrow(
      expect.objectContaining({ code: 'NETWORK_FILE_INVALID', message: expect.stringMatching(message) }),
    )
  })
})
