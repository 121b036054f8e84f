import { createClient, type RunnelClient } from '@runnel/client'
import type { Target } from './target.ts'

/** Does something with a client of the network that is put under load, and closes it. Throws what `createClient` and the work throw. */
export async function withOneClient(
  { source, user }: Pick<Target, 'source' | 'user'>,
  work: (client: RunnelClient) => Promise<void>,
): Promise<void> {
  const client = await createClient({
    ...user,
    network: source,
    transports: { websocket: {}, webrtc: false },
  })
  try {
    await work(client)
  } finally {
    await client.close()
  }
}
