import { createClient, type UserConfig } from '@runnel/client'
import { isRunnelError } from '@runnel/protocol'
import type { DescribedNetwork } from '../../cli/network-source.ts'
import { nodeError } from '../../errors.ts'
import { requireAdmission } from './admission.ts'
import type { Target } from './target.ts'

export interface ExistingNetworkOptions {
  readonly source: DescribedNetwork
  readonly user: UserConfig | undefined
  /** Id of the stream whose partitions are used; without one `/bench` of the user, made if it is missing. */
  readonly stream: string | undefined
  readonly parts: number
  /** Throws USAGE where a stream has not as many partitions as are asked for. */
  requireParts(stream: string, partitions: number): void
  readonly storage: boolean
  readonly gateway: Target['gateway']
}

/**
 * A network that runs already. Throws KEY_REQUIRED where a stream has to be made, USAGE where
 * the stream has fewer partitions than are asked for, and what its registries throw.
 */
export async function openExistingNetwork(options: ExistingNetworkOptions): Promise<Target> {
  const { source, user, parts } = options
  if (options.stream === undefined && user === undefined) throw nodeError('KEY_REQUIRED', 'or give --stream')
  const client = await createClient({
    ...user,
    network: source,
    transports: { websocket: {}, webrtc: false },
  })
  try {
    const id = client.streamId(options.stream ?? '/bench')
    const known = await client.getStream(id).catch(() => undefined)
    if (known === undefined && options.stream !== undefined) await client.getStream(id)
    const stream = known ?? (await makeStream())
    options.requireParts(id, stream.partitions)
    if (options.storage && (await client.getStorageNodes(id)).length === 0) {
      const [node] = await client.listStorageNodes()
      if (node !== undefined) await client.addToStorageNode(id, node.nodeId)
    }
    const users = {
      ...{ source, user },
      parts: Array.from({ length: parts }, (_, partition) => ({ streamId: id, partition })),
    }
    let admitted: Promise<void> | undefined
    return {
      ...{ ...users, gateway: options.gateway, description: `the network that has ${id}` },
      // The same for all runs of a bench.
      admit: (doing) => (admitted ??= requireAdmission(users, doing)),
      costs: () => [],
      died: () => [],
      stop: () => Promise.resolve(),
    }
  } finally {
    await client.close()
  }

  /** Another bench of the user may have made it meanwhile. */
  async function makeStream() {
    return client.createStream({ path: 'bench', partitions: parts }).catch((error: unknown) => {
      if (isRunnelError(error, 'STREAM_EXISTS')) return client.getStream('/bench')
      throw error
    })
  }
}
