import type { TypedData } from '@runnel/protocol'
import { TypedDataEncoder } from '@runnel/contracts/ethers'

/** What a signature of typed data signs, by ethers, as hexadecimal digits. */
export function hashOfTypedData({ domain, types, primaryType, message }: TypedData): string {
  return TypedDataEncoder.hash(domain, { [primaryType]: [...(types[primaryType] ?? [])] }, message)
}
