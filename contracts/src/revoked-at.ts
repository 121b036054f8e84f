import { Interface, type Provider } from '@runnel/contracts/ethers'
import { callContained } from './contained-call.ts'
import { abi } from './generated/stream-registry.ts'

const registry = new Interface(abi)
/** Many times what the registry needs. */
const revokedAtGas = 500_000

/** Which delegation. */
export interface DelegationKey {
  readonly userId: string
  readonly delegateId: string
  /** When it begins, in Unix milliseconds. */
  readonly fromMs: number
}

/**
 * When the user ended a delegation, in unix seconds of the chain; 0 when it did not. Undefined where the registry is of an earlier
 * version, in which nothing can be ended. Throws what ethers throws when the endpoint does not answer.
 */
export async function delegationRevokedAt(
  streamRegistry: string,
  provider: Provider,
  { userId, delegateId, fromMs }: DelegationKey,
): Promise<bigint | undefined> {
  const data = registry.encodeFunctionData('delegationRevokedAt', [userId, delegateId, fromMs])
  const answer = await callContained(provider, { target: streamRegistry, data, gas: revokedAtGas })
  return answer.ok && answer.sizeBytes === 32n ? BigInt(answer.word) : undefined
}
