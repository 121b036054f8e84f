import { createServer } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { ServerResponse } from 'node:http'
import { Wallet } from 'ethers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { remoteSigner, type RemoteSignerOptions } from './remote-signer.ts'
import type { UnsentTransaction } from './signer.ts'
import { startTestWeb3Signer, type TestWeb3Signer } from './web3signer.testkit.ts'

const [owner, other] = ['11', '22'].map((byte) => new Wallet(`0x${byte.repeat(32)}`)) as [Wallet, Wallet]
let server: TestWeb3Signer
beforeAll(async () => {
  server = await startTestWeb3Signer([owner, other], 31337)
})
beforeEach(() => void Object.assign(server, { instead: undefined, token: undefined }))
afterAll(() => server.stop())

const signerWith = (options: Partial<RemoteSignerOptions> = {}) =>
  remoteSigner({ url: server.url, ...options })

const transaction: UnsentTransaction = {
  ...{ chainId: 31337, to: other.address, data: '0xabcd', nonce: 3, gasLimit: 50_000n },
  fees: { gasPrice: 7n },
  digest: new Uint8Array(32),
}
const neverSent = () => Promise.reject(new Error('it must not be sent'))

describe('a remote signer', () => {
  it.each([
    ['no URL', { url: 'signer' }],
    ['one that others could read', { url: 'http://signer.example:9000' }],
    ['another scheme', { url: 'ftp://127.0.0.1' }],
    ['a password in it', { url: 'https://me:secret@signer.example' }],
    ['an address that is none', { address: '0x12' }],
    ['a token with a line end', { token: 'a\nb' }],
    ['an empty token', { token: '' }],
  ])('with %s is refused, and nothing secret is said', (_name, options) => {
    expect(() => signerWith(options)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.not.stringContaining('secret') }),
    )
  })

  it.each(['https://signer.example/eth', 'http://localhost:9000', 'http://[::1]:9000', 'http://127.0.0.1'])(
    'may be at %s',
    (url) => {
      expect(() => remoteSigner({ url })).not.toThrow()
    },
  )

  it('is not asked for an address that is known', async () => {
    server.asked.length = 0
    expect(await signerWith({ address: owner.address }).address()).toBe(owner.address.toLowerCase())
    expect(server.asked).toEqual([])
  })

  it('with several accounts needs to be told which', async () => {
    await expect(signerWith().address()).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('2 accounts'),
    })
  })

  it('is shown the token', async () => {
    server.token = 'right'
    const address = other.address
    const sign = (token?: string) =>
      signerWith({ address, token }).sendTransaction(transaction, () => Promise.resolve('0xhash'))
    await expect(sign('wrong')).rejects.toMatchObject({ code: 'SIGNER_REFUSED' })
    await expect(sign()).rejects.toMatchObject({ code: 'SIGNER_REFUSED' })
    expect(await sign('right')).toBe('0xhash')
  })

  it('that has no such key says so', async () => {
    const signer = signerWith({ address: `0x${'ab'.repeat(20)}` })
    await expect(signer.sendTransaction(transaction, neverSent)).rejects.toMatchObject({
      code: 'SIGNER_FAILED',
      message: expect.stringContaining('does not match available account (-32000)'),
    })
  })

  it('that is down, or does not answer, is unreachable', async () => {
    const closed = createServer().listen(0, '127.0.0.1')
    await once(closed, 'listening')
    const { port } = closed.address() as AddressInfo
    closed.close()
    await once(closed, 'close')
    await expect(remoteSigner({ url: `http://127.0.0.1:${port}` }).address()).rejects.toMatchObject({
      code: 'SIGNER_UNREACHABLE',
      message: expect.stringContaining('ECONNREFUSED'),
    })
    const waiting: ServerResponse[] = []
    server.instead = (response) => void waiting.push(response)
    await expect(signerWith({ timeoutMs: 20 }).address()).rejects.toMatchObject({
      code: 'SIGNER_UNREACHABLE',
      message: expect.stringContaining('no answer in 20 ms'),
    })
    for (const response of waiting) response.end()
  })

  it.each<[string, string, (response: ServerResponse) => void]>([
    ['a proxy without its signer', 'SIGNER_UNREACHABLE', (response) => response.writeHead(503).end('down')],
    ['a redirect', 'SIGNER_UNREACHABLE', (response) => response.writeHead(307, { location: '/' }).end()],
    ['another status', 'SIGNER_FAILED', (response) => response.writeHead(404).end()],
    ['a page', 'SIGNER_FAILED', (response) => response.end('<html>')],
    ['the answer to something else', 'SIGNER_FAILED', (response) => response.end('{"id":77,"result":[]}')],
    ['an error that is none', 'SIGNER_FAILED', (response) => response.end('{"id":1,"error":7}')],
    ['an answer without end', 'SIGNER_FAILED', (response) => response.end('x'.repeat(100_000))],
    ['a person who says no', 'SIGNER_REFUSED', (response) => response.end('{"id":1,"error":{"code":4001}}')],
    ['no list', 'SIGNER_FAILED', (response) => response.end('{"id":1,"result":"0x"}')],
    ['no account', 'SIGNER_FAILED', (response) => response.end('{"id":1,"result":[]}')],
  ])('whose answer is from %s: %s', async (_name, code, instead) => {
    server.instead = instead
    await expect(signerWith().address()).rejects.toMatchObject({ code })
  })
})
