/// <reference lib="webworker" />
/** A worker of a page that checks signatures. Without await at its top, as bundlers make classic scripts of workers. */
import { loadCrypto } from '../crypto/load-browser-crypto.ts'
import { answerVerificationRequest } from './verification-request.ts'

async function serve(): Promise<void> {
  const crypto = await loadCrypto()
  addEventListener('message', ({ data }: MessageEvent<Uint8Array>) => {
    const verdicts = answerVerificationRequest(data, crypto)
    postMessage(verdicts, { transfer: [verdicts.buffer] })
  })
  postMessage('ready')
}

// Reported, it reaches the page, which then does without.
serve().catch(reportError)
