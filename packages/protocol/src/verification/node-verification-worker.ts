/** A thread that checks signatures, until it is told to stop. */
import { parentPort } from 'node:worker_threads'
import { loadCrypto } from '../crypto/load-crypto.ts'
import { answerVerificationRequest } from './verification-request.ts'

const crypto = await loadCrypto()
parentPort?.on('message', (request: Uint8Array | 'stop') => {
  if (request === 'stop') return parentPort?.close()
  const verdicts = answerVerificationRequest(request, crypto)
  parentPort?.postMessage(verdicts, [verdicts.buffer])
})
parentPort?.postMessage('ready')
