import { createClient, type NetworkSource } from '@runnel/client'

/** Has storage nodes keep the cards of users, so that what is encrypted is shared with each before it first comes. Throws what `ensureCard` throws. */
export async function storeCards(network: NetworkSource, privateKeys: readonly string[]): Promise<void> {
  await Promise.all(
    privateKeys.map(async (privateKey) => {
      const client = await createClient({ network, privateKey, transports: { webrtc: false } })
      try {
        await client.ensureCard()
      } finally {
        await client.close()
      }
    }),
  )
}
