import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readHostsFile } from './hosts-file.ts'

const directory = mkdtempSync(join(tmpdir(), 'runnel-hosts-'))
afterAll(() => rmSync(directory, { recursive: true }))

const host = (name: string) => ({ name, site: 'here', address: '127.0.0.1', control: `unix:/run/${name}` })
const file = {
  format: 'runnel-hosts',
  version: 1,
  source: 'emulation',
  tracker: host('tracker'),
  nodes: [host('a'), { ...host('b'), control: 'http://192.0.2.1:7172' }],
}

function read(content: unknown) {
  const path = join(directory, 'hosts.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return readHostsFile(path)
}

describe('a file of hosts', () => {
  it('names them, and the file of the token beside it', () => {
    writeFileSync(join(directory, 'token'), 'secret\n')
    const { tracker, nodes, token } = read({ ...file, tokenFile: 'token' })
    expect([tracker, nodes, token]).toEqual([file.tracker, file.nodes, 'secret'])
    expect(read(file).token).toBeUndefined()
  })

  it.each([
    ['no JSON', '{'],
    ['another format', { ...file, format: 'x' }],
    ['one node', { ...file, nodes: [host('a')] }],
    ['another kind of address', { ...file, tracker: { ...host('t'), control: 'ftp://x' } }],
    ['a field too many', { ...file, extra: 1 }],
    ['a token file that is not there', { ...file, tokenFile: 'none' }],
  ])('is refused with %s', (_, content) => {
    expect(() => read(content)).toThrow(expect.objectContaining({ code: 'INVALID_HOSTS' }))
  })

  it('is refused when it is not there', () => {
    expect(() => readHostsFile(join(directory, 'none.json'))).toThrow(/cannot be read/)
  })
})
