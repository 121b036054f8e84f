import { Interface, makeError } from 'ethers'
import { describe, expect, it } from 'vitest'
import { mined, useChain } from './chain.testkit.ts'
import { decodeRegistryError } from './decode-error.ts'
import { ContractsError } from './errors.ts'
import { FOREVER, Permission } from './permission.ts'
import { permissionedTrackerRegistryAbi, storageRegistryAbi, streamRegistryAbi } from './index.ts'

const user = '0x00000000000000000000000000000000000000AA'
const abis = [permissionedTrackerRegistryAbi, streamRegistryAbi, storageRegistryAbi]

/** What ethers throws for a call that reverted with the data. */
function reverted(data: string | null): Error {
  const transaction = { to: null, data: '0x' }
  return makeError('reverted', 'CALL_EXCEPTION', {
    action: 'call',
    data,
    reason: null,
    transaction,
    invocation: null,
    revert: null,
  })
}

describe('decodeRegistryError', () => {
  it('names the permission and the user who lacks it', () => {
    const args = ['0x' + '11'.repeat(32), user, Permission.publish]
    const data = new Interface(streamRegistryAbi).encodeErrorResult('StreamRegistry__NotPermitted', args)
    expect(decodeRegistryError(reverted(data))).toEqual({
      name: 'StreamRegistry__NotPermitted',
      args: { streamKey: args[0], user, permission: 2n },
      hint: `${user} needs the publish permission on the stream.`,
    })
  })

  it('gives every error of every registry one sentence that holds no undefined', () => {
    for (const contract of abis.map((abi) => new Interface(abi))) {
      contract.forEachError((error) => {
        const values = error.inputs.map(({ type }) =>
          type === 'string'
            ? 'text'
            : type === 'address'
              ? user
              : type === 'bytes32'
                ? '0x' + '22'.repeat(32)
                : 3n,
        )
        const decoded = decodeRegistryError(reverted(contract.encodeErrorResult(error, values)))
        expect(decoded?.name).toBe(error.name)
        expect(decoded?.hint).toMatch(/^\S.*\.$/)
        expect(decoded?.hint).not.toContain('undefined')
      })
    }
  })

  it('leaves no control character of another’s text in a hint', () => {
    const data = new Interface(streamRegistryAbi).encodeErrorResult('StreamRegistry__NotFound', [
      '\u001b[31m\n',
    ])
    expect(decodeRegistryError(reverted(data))?.hint).toBe('There is no stream "\\u001b[31m\\n".')
  })

  it('looks into the causes of an error, also when they go round in a circle', () => {
    const data = new Interface(streamRegistryAbi).encodeErrorResult('StreamRegistry__NotFound', ['x'])
    const wrapped = new ContractsError('DEPLOY_FAILED', 'detail', {
      cause: new Error('outer', { cause: reverted(data) }),
    })
    expect(decodeRegistryError(wrapped)?.name).toBe('StreamRegistry__NotFound')
    const circle = new Error('circle')
    circle.cause = circle
    expect(decodeRegistryError(circle)).toBeUndefined()
  })

  it.each([
    { what: 'no error', error: undefined },
    { what: 'another error', error: new Error('connection refused') },
    { what: 'a revert without data', error: reverted(null) },
    { what: 'empty data', error: reverted('0x') },
    { what: 'an unknown error', error: reverted('0x12345678') },
    {
      what: 'Solidity’s Error(string)',
      error: reverted(new Interface([]).encodeErrorResult('Error(string)', ['no'])),
    },
    { what: 'a known error cut short', error: reverted('0x' + selector('StreamRegistry__NotFound') + '00') },
    { what: 'what is not hexadecimal', error: reverted('hello') },
  ])('makes nothing of $what', ({ error }) => {
    expect(decodeRegistryError(error)).toBeUndefined()
  })
})

function selector(name: string): string {
  return new Interface(streamRegistryAbi).getError(name)?.selector.slice(2) ?? ''
}

describe('decodeRegistryError on a real chain', () => {
  const chain = useChain()

  it('decodes a view, a dry run, an estimate and a sent transaction alike', async () => {
    const { streams, alice } = chain()
    const hers = streams.connect(alice)
    const calls = [
      () => streams.getStream('x'),
      () => hers.deleteStream.staticCall('x'),
      () => hers.deleteStream.estimateGas('x'),
      () => hers.deleteStream('x'),
      () => hers.grantPermission('x', alice.address, Permission.edit, FOREVER),
    ]
    for (const call of calls) {
      const error: unknown = await call().catch((reason: unknown) => reason)
      expect(decodeRegistryError(error)).toMatchObject({
        name: 'StreamRegistry__NotFound',
        hint: 'There is no stream "x".',
      })
    }
    const blind = mined(hers.deleteStream('x', { gasLimit: 200_000 }))
    const error: unknown = await blind.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(Error)
    expect(decodeRegistryError(error)).toBeUndefined()
  })
})
