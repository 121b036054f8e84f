import { createClient, isRunnelError, type NetworkSource } from '@runnel/client'

/**
 * Has storage nodes keep the cards of users, so that what is encrypted is shared with each before it first comes. Where they do not answer in
 * time, as on a machine that is busy with starting, `onLeft` is told why: a card is also kept when its user first reads. Throws what else
 * `ensureCard` throws.
 */
export async function storeCards(
  network: NetworkSource,
  privateKeys: readonly string[],
  onLeft: (reason: string) => void,
): Promise<void> {
  await Promise.all(
    privateKeys.map(async (privateKey) => {
      const client = await createClient({ network, privateKey, transports: { webrtc: false } })
      try {
        await client.ensureCard()
      } catch (error) {
        if (!isRunnelError(error, 'CARDS_UNAVAILABLE') && !isRunnelError(error, 'CARD_NOT_KEPT')) throw error
        onLeft(error.message)
      } finally {
        await client.close()
      }
    }),
  )
}
