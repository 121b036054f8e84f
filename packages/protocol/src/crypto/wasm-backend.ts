import type * as TinySecp256k1 from 'tiny-secp256k1'
import { joinSignature, type CurveBackend } from './backend.ts'

// Held in a variable as in native-backend.ts: its browser entry imports a .wasm file, which few bundlers can.
const moduleName: string = 'tiny-secp256k1'

/** libsecp256k1 as WebAssembly. Rejects where it cannot be loaded. */
export async function loadWasmBackend(): Promise<CurveBackend> {
  const secp256k1: typeof TinySecp256k1 = await import(
    /* @vite-ignore */ /* webpackIgnore: true */ moduleName
  )
  return {
    name: 'wasm',
    sign(digest, privateKey) {
      const { signature, recoveryId } = secp256k1.signRecoverable(digest, privateKey)
      return joinSignature(signature, recoveryId)
    },
    recover: (digest, signature) =>
      secp256k1.recover(digest, signature.subarray(0, 64), signature[64] === 0 ? 0 : 1, false) ?? undefined,
    publicKeyOf(privateKey) {
      const publicKey = secp256k1.pointFromScalar(privateKey, false)
      if (publicKey === null) throw new Error('the key has no point')
      return publicKey
    },
  }
}
