import { existsSync, readFileSync, renameSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { startAnvil, type Anvil } from '@runnel/contracts/anvil'
import { ContractsError, type RegistryAddresses } from '@runnel/contracts'
import { toNodeId, type NodeId } from '@runnel/protocol'
import { z } from 'zod'
import type { UpDirectory } from './directory.ts'

/** What the registries were told of the network. */
export interface Registered {
  readonly trackers: readonly { readonly nodeId: NodeId; readonly url: string }[]
  readonly storageUrl: string
  /** The nodes that may take part in a private network. */
  readonly members?: readonly NodeId[] | undefined
}

/** What a local network keeps for the next start, besides keys and messages: its chain, and the addresses that people and registries know. */
export interface KeptNetwork {
  readonly chain: { readonly chainId: number; readonly registries: RegistryAddresses }
  /** The chain's newest block when all was set up. */
  readonly block: number
  readonly ports: KeptPorts
  readonly registered: Registered
}

/** 0 takes a free one. */
export interface KeptPorts {
  readonly chain: number
  readonly trackers: readonly number[]
  readonly storage: number
}

const port = z.int().min(1).max(65_535)
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/)
const nodeId = address.transform(toNodeId)
const schema = z.object({
  chain: z.object({
    chainId: z.int(),
    registries: z.object({ trackerRegistry: address, streamRegistry: address, storageRegistry: address }),
  }),
  block: z.int(),
  ports: z.object({ chain: port, trackers: z.array(port), storage: port }),
  registered: z.object({
    trackers: z.array(z.object({ nodeId, url: z.string() })),
    storageUrl: z.string(),
    members: z.array(nodeId).optional(),
  }),
})

const [keptFile, stateFile] = ['kept.json', 'chain.json'] as const

/** What was kept of a network of that kind; undefined at the first start, and where it cannot be used. */
export function readKept({ path }: UpDirectory, permissioned: boolean): KeptNetwork | undefined {
  const file = join(path, keptFile)
  if (!existsSync(file) || !existsSync(join(path, stateFile))) return undefined
  try {
    const kept = schema.parse(JSON.parse(readFileSync(file, 'utf8')))
    return (kept.registered.members !== undefined) === permissioned ? kept : undefined
  } catch {
    // Of another version, or written to by somebody else.
    return undefined
  }
}

export function writeKept(directory: UpDirectory, kept: KeptNetwork): void {
  directory.writeJson(keptFile, kept)
}

export interface OpenedChain {
  readonly chain: Anvil
  /** Undefined when the chain is a new one. */
  readonly kept: KeptNetwork | undefined
  /** Whether nothing was written to the chain since it was kept. */
  readonly isAsKept: boolean
}

/**
 * Starts the chain that was kept, or a new one when it does not start or has lost what was kept of it, which is set aside as `*.old`.
 * Throws what `startAnvil` throws; all is then where it was.
 */
export async function openChain(
  directory: UpDirectory,
  kept: KeptNetwork | undefined,
  options: { readonly port: number; readonly signal: AbortSignal },
): Promise<OpenedChain> {
  const file = join(directory.path, stateFile)
  if (kept !== undefined) {
    const chain = await startAnvil({ ...options, stateFile: file }).catch(undefinedIfBroken)
    const block = chain === undefined ? -1 : await newestBlock(chain.url)
    if (chain !== undefined && block >= kept.block) return { chain, kept, isAsKept: block === kept.block }
    await chain?.stop()
  }
  const aside = [file, join(directory.path, keptFile)].filter((one) => existsSync(one))
  for (const one of aside) renameSync(one, `${one}.old`)
  try {
    return { chain: await startAnvil({ ...options, stateFile: file }), kept: undefined, isAsKept: false }
  } catch (error) {
    // No chain starts here: it was not for what was kept.
    for (const one of aside) renameSync(`${one}.old`, one)
    throw error
  }
}

/** A port that somebody has, or Ctrl-C, says nothing about the chain. */
function undefinedIfBroken(error: unknown): undefined {
  if (!(error instanceof ContractsError) || error.code !== 'CHAIN_START_FAILED') throw error
}

/** The number of a chain's newest block. */
export async function newestBlock(rpcUrl: string): Promise<number> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }),
  })
  return Number(((await response.json()) as { readonly result: string }).result)
}

/** The ports to ask for: those of the last start which are free now, else those that were asked for. */
export async function portsFor(
  asked: { readonly chainPort: number; readonly trackerPort: number; readonly trackers: number },
  kept: KeptPorts | undefined,
): Promise<KeptPorts> {
  const { chainPort, trackerPort, trackers } = asked
  const orFree = async (before = 0) => (before !== 0 && (await isFree(before)) ? before : 0)
  return {
    chain: chainPort === 0 ? await orFree(kept?.chain) : chainPort,
    trackers: await Promise.all(
      Array.from({ length: trackers }, async (_, index) =>
        trackerPort === 0 ? orFree(kept?.trackers[index]) : trackerPort + index,
      ),
    ),
    storage: await orFree(kept?.storage),
  }
}

function isFree(candidate: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(candidate, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/** The port in a URL that names one. */
export const portOf = (url: string): number => Number(new URL(url).port)
