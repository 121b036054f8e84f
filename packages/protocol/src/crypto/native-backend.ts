import { joinSignature, type CurveBackend } from './backend.ts'

/** The part of `secp256k1/bindings` that is used; its own types are of the entry that falls back to JavaScript. */
interface NativeSecp256k1 {
  ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array; recid: number }
  ecdsaRecover(rs: Uint8Array, recid: number, digest: Uint8Array, compressed: boolean): Uint8Array
  publicKeyCreate(privateKey: Uint8Array, compressed: boolean): Uint8Array
}

// Held in a variable: a bundler must leave it to the runtime, where a browser refuses it and the next backend is taken.
const moduleName: string = 'secp256k1/bindings.js'

/** libsecp256k1 as a Node addon. Rejects where it cannot be loaded. */
export async function loadNativeBackend(): Promise<CurveBackend> {
  const loaded: { default: NativeSecp256k1 } = await import(
    /* @vite-ignore */ /* webpackIgnore: true */ moduleName
  )
  const secp256k1 = loaded.default
  return {
    name: 'native',
    sign(digest, privateKey) {
      const { signature, recid } = secp256k1.ecdsaSign(digest, privateKey)
      return joinSignature(signature, recid)
    },
    recover: (digest, signature) =>
      secp256k1.ecdsaRecover(signature.subarray(0, 64), signature[64] as number, digest, false),
    publicKeyOf: (privateKey) => secp256k1.publicKeyCreate(privateKey, false),
  }
}
