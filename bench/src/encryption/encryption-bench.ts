import { loadCrypto, nodeCiphers, pageCiphers, type Crypto } from '@runnel/protocol'
import { grantDelays } from './grant-delays.ts'
import { KeyNetwork } from './key-network.ts'
import { pageBytes } from './page-bytes.ts'
import { pageCosts } from './page-costs.ts'
import { readerCosts } from './reader-costs.ts'
import { revocationDelays } from './revocation-delays.ts'
import { sealCosts } from './seal-costs.ts'
import { round } from '../statistics.ts'

export interface EncryptionOptions {
  /** Sealed and opened in each round, in batches of 64; fewer in small ones. */
  readonly messages: number
  /** Readers with cards that a stream's first key is for. */
  readonly readers: number
  readonly grants: number
  readonly revocations: number
  /** Messages a second while permissions are revoked. */
  readonly ratePerS: number
}

const rounds = 9
const pageRounds = 100
const readersTakenAway = 10

/**
 * What end-to-end encryption costs, beside the same in the clear: one part after the other. `tell` is given what it is at, and `ended` the
 * figures of each part: they count even where a later one does not end in time.
 */
export async function encryptionBench(
  options: EncryptionOptions,
  tell: (text: string) => void = () => {},
  ended: (text: string) => void = () => {},
) {
  const crypto = await loadCrypto()
  const { messages, readers, grants, revocations, ratePerS } = options
  const part = async <T>(what: string, run: () => T | Promise<T>): Promise<T> => {
    tell(what)
    const startMs = performance.now()
    const result = await run()
    ended(`${what}: ${round((performance.now() - startMs) / 1000)} s, ${JSON.stringify(result)}`)
    return result
  }
  const seal = await part('sealing and opening', () => sealCostsOf(crypto, messages))
  const page = await part('a page', async () => ({
    ...(await pageBytes()),
    chromium: await pageCosts(pageRounds),
  }))
  const lost = { readers, rounds: Math.min(readersTakenAway, readers) }
  const readerFigures = await part('readers', () => readerCosts(crypto, lost))
  const network = await KeyNetwork.start(1)
  try {
    const grant = await part('grants', () => grantDelays(network, grants, tell))
    const revoked = { rounds: revocations, ratePerS }
    const revocation = await part('revocations', () => revocationDelays(network, revoked, tell))
    const figures = { seal, readers: readerFigures, grant, revocation, page }
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

async function sealCostsOf(crypto: Crypto, messages: number) {
  const of = async (ciphers: typeof nodeCiphers) => ({
    batchesOf64: await sealCosts(crypto, ciphers, { perBatch: 64, messages, rounds }),
    batchesOf4: await sealCosts(crypto, ciphers, { perBatch: 4, messages: messages / 8, rounds }),
    alone: await sealCosts(crypto, ciphers, { perBatch: 1, messages: messages / 16, rounds }),
  })
  return { node: await of(nodeCiphers), pageCiphersInNode: await of(pageCiphers) }
}
