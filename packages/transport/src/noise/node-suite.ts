import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from 'node:crypto'
import { nodeCiphers } from '@runnel/protocol'
import type { NoiseSuite } from './noise-suite.ts'

/** The bytes before the 32 bytes of an X25519 key in DER (RFC 8410). */
const secretKeyHeader = Buffer.from('302e020100300506032b656e04220420', 'hex')
const publicKeyHeader = Buffer.from('302a300506032b656e032100', 'hex')

/** Node's primitives for Noise. */
export const nodeSuite: NoiseSuite = {
  ...nodeCiphers,
  ciphers: ['aes-256-gcm', 'chacha20-poly1305'],
  publicKey: (secretKey) =>
    createPublicKey(secretKeyObject(secretKey))
      .export({ format: 'der', type: 'spki' })
      .subarray(publicKeyHeader.length),
  sharedSecret: (secretKey, publicKey) =>
    diffieHellman({ privateKey: secretKeyObject(secretKey), publicKey: publicKeyObject(publicKey) }),
}

function secretKeyObject(secretKey: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([secretKeyHeader, secretKey]), format: 'der', type: 'pkcs8' })
}

function publicKeyObject(publicKey: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([publicKeyHeader, publicKey]), format: 'der', type: 'spki' })
}
