import { acceptsSignature } from '@runnel/contracts'
import { cardDigest, cardPublicKeyBytes, ciphers, loadCrypto, toHex, type Card } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openRegistry, type RegistryService } from '../index.ts'
import { startTestChain, type TestChain } from '../registry/chain.testkit.ts'
import { deployMultisig, multisigSigner, type Multisig } from '../registry/multisig.testkit.ts'
import { openReadingKeys } from './open-reading-keys.ts'

const crypto = await loadCrypto()
let chain: TestChain
let registry: RegistryService
let account: Multisig

beforeAll(async () => {
  chain = await startTestChain()
  registry = await openRegistry({
    network: { kind: 'chain', rpcUrl: chain.url, registries: chain.registries },
  })
  account = await deployMultisig(chain.accounts[0].wallet)
})
afterAll(async () => {
  await registry.stop()
  await chain.stop()
})

const publicKey = new Uint8Array(cardPublicKeyBytes).fill(5)

function sourceOf(owners: readonly Multisig['owners'][number][], isGiven: boolean) {
  const { nodeId: userId } = account
  const given = { userId, generation: 0, secret: `0x${'5e'.repeat(32)}` }
  const { accounts, chainId } = registry
  const context = { accounts, chainId, ciphers, crypto, clock: systemClock }
  return openReadingKeys(
    isGiven ? given : undefined,
    { userId, signer: multisigSigner(account, owners) },
    context,
  )
}

const isBacked = ({ userId, block, ...card }: Card) =>
  acceptsSignature(chain.provider, {
    ...{ account: userId, digest: toHex(cardDigest({ userId, block, ...card }, crypto)) },
    ...{ signature: card.signature, blockTag: block },
  })

it('a contract backs the card that enough of its owners signed, for a key that is kept', async () => {
  const card = await sourceOf(account.owners, true).signCard(0, publicKey)
  expect(card.block).toBeGreaterThanOrEqual(account.block)
  expect(await isBacked(card)).toBe(true)
  const byOne = await sourceOf(account.owners.slice(1), true).signCard(0, publicKey)
  expect(await isBacked(byOne)).toBe(false)
})

it('a contract without a kept key has none', async () => {
  await expect(sourceOf(account.owners, false).readingKey(0)).rejects.toMatchObject({
    code: 'NO_READING_KEY',
    message: expect.stringContaining(`${account.nodeId} is a contract`),
  })
})
