/**
 * Writes the test vectors in `packages/protocol/vectors/`: run `node packages/protocol/scripts/write-vectors.ts` after an
 * intended change of the wire format, and read the diff. The tests only read them.
 */
import { writeFileSync } from 'node:fs'
import { encodePacket, loadCrypto } from '../src/index.ts'
import { encryptionVectors } from '../src/encryption/vectors.testkit.ts'
import { malformedSamples } from '../src/messages/malformed.testkit.ts'
import { readerVectors } from '../src/readers/vectors.testkit.ts'
import { samplePackets } from '../src/messages/samples.testkit.ts'
import { packetToJson, toHex } from '../src/messages/plain-json.testkit.ts'
import {
  accessVectors,
  batchVectors,
  cardVectors,
  handshakeVectors,
  delegationVectors,
  membershipVectors,
  placementVectors,
} from '../src/signing/vectors.testkit.ts'

const crypto = await loadCrypto({ backend: 'js' })

const files = {
  packets: samplePackets(crypto)
    .filter(({ packet }) => packet.type !== 'data')
    .map(({ name, packet }) => ({ name, hex: toHex(encodePacket(packet)), packet: packetToJson(packet) })),
  batches: batchVectors(crypto),
  handshake: handshakeVectors(crypto),
  access: accessVectors(crypto),
  membership: membershipVectors(crypto),
  delegations: delegationVectors(crypto),
  cards: cardVectors(crypto),
  encryption: await encryptionVectors(crypto),
  placement: placementVectors(),
  readers: readerVectors(),
  malformed: malformedSamples(crypto),
}

for (const [name, vectors] of Object.entries(files)) {
  const url = new URL(`../vectors/${name}.json`, import.meta.url)
  writeFileSync(url, `${JSON.stringify(vectors, undefined, 2)}\n`)
}
