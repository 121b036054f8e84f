import { join } from 'node:path'
import { createClient, isRunnelError, readKeyFile, readNetworkFile } from '@runnel/client'

/** Sound and what is said; pictures of 180 lines, of 360, and screens: a page joins those that it shows. */
const partitions = 4

/** Has the network of a directory a stream for rooms, in which everybody may publish: what is said in a room is encrypted with its own key. */
export async function createRoomStream(directory: string): Promise<void> {
  const network = readNetworkFile(join(directory, 'network.json'))
  const privateKey = readKeyFile(join(directory, 'keys/owner.key'))
  await using client = await createClient({ network, privateKey, transports: { webrtc: false } })
  try {
    await client.createStream({ path: 'rooms', partitions })
  } catch (error) {
    if (!isRunnelError(error) || error.code !== 'STREAM_EXISTS') throw error
  }
  await client.grant('/rooms', { public: true, permissions: ['publish', 'subscribe'] })
}
