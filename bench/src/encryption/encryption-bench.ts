import { loadCrypto, nodeCiphers, pageCiphers, type Crypto } from '@runnel/protocol'
import { within } from '../settling.ts'
import { grantDelays } from './grant-delays.ts'
import { KeyNetwork } from './key-network.ts'
import { pageBytes } from './page-bytes.ts'
import { readerCosts } from './reader-costs.ts'
import { revocationDelays } from './revocation-delays.ts'
import { sealCosts } from './seal-costs.ts'

export interface EncryptionOptions {
  /** Sealed and opened in each round, in batches of 64; fewer in small ones. */
  readonly messages: number
  /** Readers with cards that a stream's first key is for. */
  readonly readers: number
  readonly grants: number
  readonly revocations: number
  /** Messages a second while permissions are revoked. */
  readonly ratePerS: number
  /** It fails when it takes longer. */
  readonly limitS: number
}

const rounds = 9
const readersTakenAway = 10

/** What end-to-end encryption costs, beside the same in the clear. */
export function encryptionBench(options: EncryptionOptions) {
  return within(1000 * options.limitS, 'the benchmark', measure(options))
}

async function measure(options: EncryptionOptions) {
  const crypto = await loadCrypto()
  const { messages, readers, grants, revocations, ratePerS } = options
  const seal = sealCostsOf(crypto, messages)
  const readerFigures = await readerCosts(crypto, { readers, rounds: Math.min(readersTakenAway, readers) })
  const network = await KeyNetwork.start(1)
  try {
    const grant = await grantDelays(network, grants)
    const revocation = await revocationDelays(network, { rounds: revocations, ratePerS })
    const figures = { seal, readers: readerFigures, grant, revocation, page: await pageBytes() }
    const { batchesOf64 } = seal.node
    const ratio = {
      publishAndReadCpu: batchesOf64.ratio,
      firstLineMs: grant.ratio,
      blindMs: revocation.ratio,
    }
    return { bench: 'encryption', ratio, ...options, cryptoBackend: crypto.backend, ...figures }
  } finally {
    await network.stop()
  }
}

function sealCostsOf(crypto: Crypto, messages: number) {
  const of = (ciphers: typeof nodeCiphers) => ({
    batchesOf64: sealCosts(crypto, ciphers, { perBatch: 64, messages, rounds }),
    batchesOf4: sealCosts(crypto, ciphers, { perBatch: 4, messages: messages / 8, rounds }),
    alone: sealCosts(crypto, ciphers, { perBatch: 1, messages: messages / 16, rounds }),
  })
  return { node: of(nodeCiphers), pageCiphersInNode: of(pageCiphers) }
}
