import { join } from 'node:path'
import { createClient, isRunnelError, readKeyFile, readNetworkFile, type RunnelClient } from '@runnel/client'

/** Sound and what is said; pictures of 180 lines, of 360, and screens: a page joins those that it shows. */
const partitions = 4

/** And one with notes of recorders before each of them. */
const recordingPartitions = partitions + 1

/**
 * Has the network of a directory a stream for rooms, and one for recordings that storage nodes keep, in which everybody may publish: what is
 * said in a room is encrypted with its own key.
 */
export async function createRoomStream(directory: string): Promise<void> {
  const network = readNetworkFile(join(directory, 'network.json'))
  const privateKey = readKeyFile(join(directory, 'keys/owner.key'))
  await using client = await createClient({ network, privateKey, transports: { webrtc: false } })
  await create(client, 'rooms', partitions)
  await create(client, 'recordings', recordingPartitions)
  const keepers = new Set((await client.getStorageNodes('/recordings')).map(({ nodeId }) => nodeId))
  for (const { nodeId } of await client.listStorageNodes())
    if (!keepers.has(nodeId)) await client.addToStorageNode('/recordings', nodeId)
}

async function create(client: RunnelClient, path: string, partitions: number): Promise<void> {
  try {
    await client.createStream({ path, partitions })
  } catch (error) {
    if (!isRunnelError(error) || error.code !== 'STREAM_EXISTS') throw error
  }
  await client.grant(`/${path}`, { public: true, permissions: ['publish', 'subscribe'] })
}
