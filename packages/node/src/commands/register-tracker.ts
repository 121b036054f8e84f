import { trackerRegistry, untilMined } from '@runnel/contracts'
import type { NodeId } from '@runnel/protocol'
import { readChain } from '../cli/network-source.ts'
import { withWallet } from '../cli/with-chain.ts'

export interface Registration {
  /** Network file. */
  readonly network: string | undefined
  /** Of the registry's owner, or, to change the URL, of the tracker. */
  readonly privateKey: string
  readonly nodeId: NodeId
  readonly url: string
}

/** Admits a tracker, or gives one that is known its new URL. Resolves to whether it was new. */
export async function registerTracker({ network, privateKey, nodeId, url }: Registration): Promise<boolean> {
  const chain = readChain(network)
  const { registries } = chain
  return withWallet(chain, privateKey, async (wallet) => {
    const registry = trackerRegistry(registries.trackerRegistry, wallet)
    const isKnown = await registry.isTracker(nodeId)
    const change = isKnown ? registry.updateTracker : registry.addTracker
    await untilMined(await change(nodeId, url, '{}'))
    return !isKnown
  })
}
