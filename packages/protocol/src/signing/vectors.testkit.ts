import { packetBytes, readPackets } from '../codec/frame.ts'
import { encodePacket } from '../codec/packet-codec.ts'
import { delegationRef } from '../delegation/check-delegation.ts'
import { encodeDelegation } from '../delegation/delegation.ts'
import { cardDigest, cardHash, cardTypedData, encodeCard } from '../encryption/card.ts'
import { delegationDigest, delegationTypedData } from '../delegation/typed-data.ts'
import { toStreamId, toStreamPartId } from '../ids/stream-id.ts'
import { PacketType } from '../messages/packet-table.ts'
import { protocolVersions } from '../messages/capabilities.ts'
import type { Hello } from '../messages/packets/link.ts'
import { toHex, toPlainJson } from '../messages/plain-json.testkit.ts'
import {
  pattern,
  sampleBatches,
  sampleCards,
  sampleDelegations,
  sampleIdentity,
  sampleNodeId,
  samplePrivateKeys,
} from '../messages/samples.testkit.ts'
import type { Crypto } from '../ports.ts'
import { responsibleTrackers } from '../placement/responsible-trackers.ts'
import { accessDigest, anyRequester, signAccessToken, type AccessClaim } from './access-token.ts'
import { batchDigest } from './batch-signature.ts'
import { handshakeDigest, type HandshakeClaim } from './handshake.ts'
import { membershipDigest, signMembership, type MembershipClaim } from './membership.ts'

/** Batches as a data packet, as bytes, as what they mean, and as what is signed. */
export function batchVectors(crypto: Crypto) {
  return sampleBatches(crypto).map(({ name, privateKey, batch }) => ({
    name,
    privateKey,
    packetHex: toHex(packetBytes(PacketType.data, batch.bytes)),
    hex: toHex(batch.bytes),
    headerHex: toHex(batch.bytes.subarray(0, batch.headerEnd)),
    digestHex: toHex(batchDigest(batch, crypto)),
    signatureHex: toHex(batch.signature),
    chain: batch.chain,
    messages: batch.messages.map(({ streamId, partition, publisherId, messageChainId, ...said }) =>
      toPlainJson(said),
    ),
  }))
}

export function handshakeVectors(crypto: Crypto) {
  const prover = sampleIdentity(crypto, 0)
  const hello = {
    type: 'hello',
    versions: protocolVersions,
    role: 'node',
    sealing: 'none',
    address: '',
    agent: '',
    capabilities: [],
  } as const
  const [dialler, listener] = [
    { ...hello, nodeId: prover.nodeId, nonce: pattern(32), address: 'tracker.example:443' },
    { ...hello, nodeId: sampleIdentity(crypto, 1).nodeId, nonce: pattern(64).subarray(32) },
  ]
  const claim: HandshakeClaim = {
    prover: 'dialler',
    hellos: { dialler: bodyOf({ ...dialler, sealing: 'aes-256-gcm' }), listener: bodyOf(listener) },
    binding: new Uint8Array(),
  }
  const bound = { dialler: bodyOf({ ...dialler, address: '' }), listener: bodyOf(listener) }
  return [
    { name: 'a dialler that seals', claim },
    {
      name: 'a tracker that listens',
      claim: {
        prover: 'listener',
        hellos: { dialler: bodyOf(listener), listener: bodyOf({ ...dialler, role: 'tracker', address: '' }) },
        binding: new Uint8Array(),
      } satisfies HandshakeClaim,
    },
    { name: 'a binding of 160 bytes', claim: { ...claim, hellos: bound, binding: pattern(160) } },
  ].map(({ name, claim }) => {
    const digest = handshakeDigest(claim, crypto)
    return {
      name,
      privateKey: samplePrivateKeys[0],
      claim: toPlainJson(claim),
      digestHex: toHex(digest),
      signatureHex: toHex(prover.sign(digest)),
    }
  })
}

function bodyOf(hello: Hello): Uint8Array {
  return readPackets(encodePacket(hello))[0]?.body ?? new Uint8Array()
}

export function accessVectors(crypto: Crypto) {
  const [user, requester, storageNode] = [0, 1, 2].map((index) => sampleIdentity(crypto, index).nodeId)
  if (!user || !requester || !storageNode) throw new Error('too few sample keys')
  const claim: AccessClaim = {
    userId: user,
    requesterId: requester,
    storageNodeId: storageNode,
    expiresMs: 1_750_000_060_000,
  }
  return [
    { name: 'for a link', claim },
    { name: 'for HTTP', claim: { ...claim, requesterId: anyRequester } },
    { name: 'the latest expiry', claim: { ...claim, expiresMs: 2 ** 48 - 1 } },
  ].map(({ name, claim }) => ({
    name,
    privateKey: samplePrivateKeys[0],
    claim,
    digestHex: toHex(accessDigest(claim, crypto)),
    signatureHex: toHex(signAccessToken(claim, crypto, sampleIdentity(crypto)).signature),
  }))
}

export function placementVectors() {
  const trackerIds = [...'12345'].map(sampleNodeId)
  const streamId = toStreamId(`${sampleNodeId('a')}/news`)
  return Array.from({ length: 12 }, (_, partition) => {
    const streamPartId = toStreamPartId(streamId, partition)
    return {
      streamPartId,
      trackerIds,
      inOrder: responsibleTrackers(streamPartId, trackerIds, trackerIds.length),
    }
  })
}

export function membershipVectors(crypto: Crypto) {
  const [user, node] = [sampleIdentity(crypto, 0), sampleIdentity(crypto, 1)]
  return [1_750_000_060_000, 2 ** 48 - 1].map((expiresMs) => {
    const claim: MembershipClaim = { userId: user.nodeId, nodeId: node.nodeId, expiresMs }
    return {
      name: `until ${expiresMs}`,
      privateKey: samplePrivateKeys[0] as string,
      claim,
      digestHex: toHex(membershipDigest(claim, crypto)),
      signatureHex: toHex(signMembership(claim, crypto, user).signature),
    }
  })
}

/** Cards as their bytes and their hashes, and what their users sign. */
export function cardVectors(crypto: Crypto) {
  return sampleCards(crypto).map(({ name, card }) => {
    const { signature, publicKey, ...claim } = card
    return {
      name,
      privateKey: samplePrivateKeys[0] as string,
      claim: { ...claim, publicKeyHex: toHex(publicKey) },
      typedData: cardTypedData(card, crypto),
      digestHex: toHex(cardDigest(card, crypto)),
      signatureHex: toHex(signature),
      hex: toHex(encodeCard(card)),
      hashHex: toHex(cardHash(card, crypto)),
    }
  })
}

/** Delegations as their bytes, how batches name them, and what their users sign. */
export function delegationVectors(crypto: Crypto) {
  return sampleDelegations(crypto).map(({ name, delegation }) => {
    const { signature, ...claim } = delegation
    const bytes = encodeDelegation(delegation)
    return {
      name,
      privateKey: samplePrivateKeys[0] as string,
      claim,
      typedData: delegationTypedData(claim),
      digestHex: toHex(delegationDigest(claim, crypto)),
      signatureHex: toHex(signature),
      hex: toHex(bytes),
      ref: delegationRef(bytes, crypto),
    }
  })
}
