import { Transaction, Wallet } from 'ethers'
import { describe, expect, it } from 'vitest'
import { checkedSigned, unsentOf } from './signed-transaction.ts'

const [owner, other] = ['11', '22'].map((byte) => new Wallet(`0x${byte.repeat(32)}`)) as [Wallet, Wallet]
const fields = { chainId: 31337, to: other.address, data: '0xabcd', nonce: 3, gasLimit: 50_000n }
const account = owner.address.toLowerCase()

describe.each([
  ['with one price', { ...fields, type: 0, gasPrice: 7n }],
  ['with fees in two parts', { ...fields, type: 2, maxFeePerGas: 9n, maxPriorityFeePerGas: 1n }],
])('a transaction %s', (_name, wanted) => {
  const transaction = Transaction.from(wanted)
  const outcome = async (changed: object, by = owner): Promise<unknown> => {
    const signed = await by.signTransaction({ ...wanted, ...changed })
    try {
      return checkedSigned({ transaction: signed }, transaction, account)
    } catch (error) {
      return error
    }
  }

  it('is sent as it was signed, whole or by its digest', async () => {
    const signed = await owner.signTransaction(wanted)
    const { serialized: signature } = owner.signingKey.sign(unsentOf(transaction).digest)
    expect(checkedSigned({ transaction: signed }, transaction, account)).toBe(signed)
    expect(checkedSigned({ signature }, transaction, account)).toBe(signed)
    // Other libraries end a signature with 0 or 1.
    const parity = { '1b': '00', '1c': '01' }[signature.slice(-2)]
    const withParity = `${signature.slice(0, -2)}${parity}`
    expect(checkedSigned({ signature: withParity }, transaction, account)).toBe(signed)
  })

  it('that is another than was asked for is not sent', async () => {
    for (const changed of [{ to: owner.address }, { data: '0x' }, { nonce: 4 }, { value: 1n }]) {
      expect(await outcome(changed)).toMatchObject({ code: 'SIGNER_FAILED' })
    }
    expect(await outcome({ chainId: 1 })).toMatchObject({ code: 'SIGNER_OTHER_CHAIN' })
    expect(await outcome({}, other)).toMatchObject({ code: 'SIGNER_OTHER_ACCOUNT' })
  })

  it('that is none is not sent', () => {
    for (const signed of [{ transaction: '0x1234' }, { signature: '0x1234' }, { transaction: 'no' }]) {
      expect(() => checkedSigned(signed, transaction, account)).toThrow(
        expect.objectContaining({ code: 'SIGNER_FAILED' }),
      )
    }
  })
})
