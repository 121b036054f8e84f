import { secp256k1 } from '@noble/curves/secp256k1.js'
import { joinSignature, type CurveBackend } from './backend.ts'

const { Point } = secp256k1
const scalars = Point.Fn
/** 32 multiples for each 5 bits: ready in some milliseconds. */
const tableBits = 5

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
  /**
   * Recovering asks which key P gives R = (z/s)·G + (r/s)·P; with P known, R is computed and compared (SEC 1, section 4.1.6).
   * A small table of multiples of P makes that more than twice as quick.
   */
  prepareCheck(publicKey) {
    const point = Point.fromBytes(publicKey).precompute(tableBits, false)
    return (digest, signature) => {
      const { r, s } = secp256k1.Signature.fromBytes(signature.subarray(0, 64))
      const inverse = scalars.inv(s)
      const byBase = scalars.mul(scalars.create(bigIntOf(digest)), inverse)
      const byPoint = scalars.mul(r, inverse)
      const { x, y } = Point.BASE.multiplyUnsafe(byBase).add(point.multiplyUnsafe(byPoint)).toAffine()
      return x === r && Number(y & 1n) === signature[64]
    }
  },
  publicKeyOf: (privateKey) => secp256k1.getPublicKey(privateKey, false),
}

function bigIntOf(bytes: Uint8Array): bigint {
  return BigInt(bytes.reduce((hex, byte) => hex + byte.toString(16).padStart(2, '0'), '0x'))
}
