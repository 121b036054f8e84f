import type { NetworkNode } from '@runnel/network'
import {
  buildBatch,
  ContentType,
  EncryptionType,
  type Crypto,
  type MessageChain,
  type MessageRef,
} from '@runnel/protocol'
import type { ActingUser } from '../identity/acting-user.ts'

/** A message that is a batch by itself. */
export interface LoneMessage {
  readonly chain: MessageChain
  readonly place: MessageRef
  readonly content: Uint8Array
}

export interface LoneModules {
  readonly node: Pick<NetworkNode, 'publish'>
  readonly user: Pick<ActingUser, 'signer'>
  readonly crypto: Crypto
}

/** Signs bytes as the only message of a batch, in the clear, and floods it at once. Throws LIMIT_EXCEEDED, and what the node throws. */
export function publishAlone(
  { chain, place, content }: LoneMessage,
  { node, user, crypto }: LoneModules,
): void {
  const message = {
    ...{ ...place, previous: undefined, contentType: ContentType.binary },
    ...{ encryptionType: EncryptionType.none, groupKeyId: '', content },
  }
  node.publish(buildBatch({ chain, messages: [message] }, crypto, user.signer))
}
