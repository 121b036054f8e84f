import { readUserFile } from '@runnel/client'
import { createIdentity, decodeDelegation, loadCrypto, parsePrivateKey, type NodeId } from '@runnel/protocol'

/** In whose name a process with this file acts. Throws what `readUserFile` throws. */
export async function userOfFile(path: string): Promise<NodeId> {
  const { delegation, privateKey } = readUserFile(path)
  if (delegation !== undefined)
    return decodeDelegation(Buffer.from(delegation.delegation.slice(2), 'hex')).userId
  return createIdentity(parsePrivateKey(privateKey ?? ''), await loadCrypto()).nodeId
}
