import { inspect } from 'node:util'
import { Interface, makeError } from 'ethers'
import { describe, expect, it } from 'vitest'
import { decodeRegistryError } from './decode-error.ts'
import { streamRegistryAbi } from './index.ts'
import { rpcSecrets } from './rpc-secrets.ts'

const rpcUrl = 'https://user:p%40ss-word@rpc.example:8545/v3/key-in-path?token=key-in-query'
const hidden = ['user:', 'p%40ss-word', 'p@ss-word', 'key-in-path', 'key-in-query', btoa('user:p@ss-word')]
const secrets = rpcSecrets(rpcUrl)

/** Everything that can be seen of an error. */
const allOf = (error: unknown) => inspect(error, { depth: Infinity, showHidden: true })
const hiddenIn = (text: string) => hidden.filter((secret) => text.includes(secret))

describe('rpcSecrets', () => {
  it('shows scheme, host and port', () => {
    expect(secrets.shown).toBe('https://rpc.example:8545')
    expect(rpcSecrets('no URL, but a-secret').shown).toBe('not a URL')
    expect(rpcSecrets('no URL, but a-secret').scrubText('? no URL, but a-secret !')).toBe('? [secret] !')
  })

  it('takes each secret out of a text, as written and as meant', () => {
    expect(hiddenIn(secrets.scrubText(`a ${rpcUrl} b ${hidden.join(' c ')}`))).toEqual([])
    expect(secrets.scrubText('no answer from rpc.example')).toBe('no answer from rpc.example')
  })

  it('leaves nothing of them in an error of ethers, in its fields or in what caused it', () => {
    const info = { requestUrl: rpcUrl, responseBody: 'key-in-path is over its limit' }
    const error = makeError(`server response 429 for ${rpcUrl}`, 'UNKNOWN_ERROR', { info })
    error.cause = new TypeError('fetch failed', { cause: new Error(`connect ${rpcUrl}`) })
    expect(hiddenIn(allOf(error))).not.toEqual([])
    const scrubbed = secrets.scrubError(error)
    expect(hiddenIn(allOf(scrubbed))).toEqual([])
    expect(scrubbed).toMatchObject({
      code: 'UNKNOWN_ERROR',
      cause: { name: 'TypeError', message: 'fetch failed' },
    })
    expect(scrubbed.stack).toContain('rpc-secrets.test')
    expect(secrets.scrubError('key-in-path').message).toBe('[secret]')
  })

  it('ends with causes that go round', () => {
    const error = new Error('round')
    error.cause = error
    expect(allOf(secrets.scrubError(error))).toContain('round')
  })

  it('leaves what the registry said', () => {
    const data = new Interface(streamRegistryAbi).encodeErrorResult('StreamRegistry__NotFound', ['0x0/a'])
    const rest = { action: 'call', reason: null, transaction: { to: null, data: '0x' } } as const
    const error = makeError('reverted', 'CALL_EXCEPTION', { ...rest, data, invocation: null, revert: null })
    expect(decodeRegistryError(secrets.scrubError(error))?.name).toBe('StreamRegistry__NotFound')
  })
})
