import { joinSignature, type CurveBackend } from './backend.ts'

/** @noble/curves: plain JavaScript, which runs everywhere, and is the slowest. */
export async function loadJsBackend(): Promise<CurveBackend> {
  const { secp256k1 } = await import('@noble/curves/secp256k1.js')
  return {
    name: 'js',
    sign(digest, privateKey) {
      const signature = secp256k1.sign(digest, privateKey, {
        prehash: false,
        lowS: true,
        format: 'recovered',
      })
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
}
