import { AbiCoder, concat, Interface, type BlockTag, type Provider } from '@runnel/contracts/ethers'
import { abi, bytecode } from './generated/contained-call.ts'

const contract = new Interface(abi)

/** Gas for the rest of the call: its own code, and the 64th part that is kept back when another contract is called. */
const overheadGas = 500_000

/** A question to a contract. */
export interface ContainedCall {
  readonly target: string
  /** The selector and the encoded arguments. */
  readonly data: string
  /** How much of the gas the contract may burn. */
  readonly gas: number
  readonly blockTag?: BlockTag | undefined
}

/** What became of it. */
export interface ContainedAnswer {
  /** False: the contract reverted, ran out of gas, or has no such function. */
  readonly ok: boolean
  /** Length of what it returned, in bytes. */
  readonly sizeBytes: bigint
  /** The first word of that, 0x and 64 hexadecimal digits; zeros where it returned less. */
  readonly word: string
}

/**
 * Asks a contract that may be hostile, or may not have the function: what it does is in the answer, which is small whatever it
 * returns. Throws only what ethers throws when the endpoint does not answer, or does not have the state of that block.
 */
export async function callContained(
  provider: Provider,
  { target, data, gas, blockTag = 'latest' }: ContainedCall,
): Promise<ContainedAnswer> {
  const args = contract.encodeDeploy([target, gas, data])
  const gasLimit = Math.ceil((gas * 64) / 63) + overheadGas
  const result = await provider.call({ data: concat([bytecode, args]), gasLimit, blockTag })
  const [ok, sizeBytes, word] = AbiCoder.defaultAbiCoder().decode(['bool', 'uint256', 'bytes32'], result)
  return { ok, sizeBytes, word }
}
