import type { NodeId } from '../ids/node-id.ts'
import { signatureBytes } from './batch-codec.ts'

/**
 * Four bytes of the signature that a batch, or a packet that holds nothing behind it, ends with. Which four depends on who is told them:
 * a publisher that signs two batches for one place cannot find two that all nodes take for the same without trying 2^64 and more.
 *
 * @param toldId the node that the digest is for.
 */
export function digestCheck(bytes: Uint8Array, toldId: NodeId): number {
  const start = bytes.length - signatureBytes + 4 * Number.parseInt(toldId.slice(-1), 16)
  let check = 0
  for (let i = start; i < start + 4; i++) check = check * 256 + (bytes[i] ?? 0)
  return check
}
