import { secp256k1 } from '@noble/curves/secp256k1.js'
import { joinSignature, type CurveBackend } from './backend.ts'

/** @noble/curves: plain JavaScript, which runs everywhere, and is the slowest. */
export const jsBackend: CurveBackend = {
  name: 'js',
  sign(digest, privateKey) {
    const signature = secp256k1.sign(digest, privateKey, { prehash: false, lowS: true, format: 'recovered' })
    return joinSignature(signature.subarray(1), signature[0] as number)
  },
  recover(digest, signature) {
    return secp256k1.Signature.fromBytes(signature.subarray(0, 64))
      .addRecoveryBit(signature[64] as number)
      .recoverPublicKey(digest)
      .toBytes(false)
  },
  publicKeyOf: (privateKey) => secp256k1.getPublicKey(privateKey, false),
}
