/// <reference lib="webworker" />
/** A worker of a page that checks signatures. */
import { loadCrypto } from '../crypto/load-browser-crypto.ts'
import { answerVerificationRequest } from './verification-request.ts'

const crypto = await loadCrypto()
addEventListener('message', ({ data }: MessageEvent<Uint8Array>) => {
  const verdicts = answerVerificationRequest(data, crypto)
  postMessage(verdicts, { transfer: [verdicts.buffer] })
})
postMessage('ready')
