import { accessSync, constants, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readNetworkFile, type NetworkSource } from '@runnel/client'
import { isNodeId, isRunnelError, RunnelError } from '@runnel/protocol'
import { nodeError } from '../errors.ts'
import { notice } from './output.ts'

/** What a network file describes. */
export type DescribedNetwork = ReturnType<typeof readNetworkFile>

/** Where `runnel up` writes the network file, from the folder it runs in. */
const localNetworkFile = join('.runnel', 'up', 'network.json')

/**
 * The network that is named, else RUNNEL_NETWORK, else that of `runnel up` in this folder, which is said: a network file, or the URL of a
 * signed document with its owner, https://…#0xowner. Throws NETWORK_NOT_CONFIGURED, NETWORK_OWNER_MISSING, or what is wrong with the file.
 */
export function readNetwork(file: string | undefined, env = process.env): DescribedNetwork {
  const path = file ?? networkByDefault(env)
  if (path === '') throw nodeError('NETWORK_NOT_CONFIGURED')
  if (isNetworkUrl(path)) return documentAt(path)
  try {
    return readNetworkFile(path)
  } catch (error) {
    throw withClosedDirectory(error, path)
  }
}

/** RUNNEL_NETWORK, else the file of `runnel up` in this folder, which is said. Throws NETWORK_NOT_CONFIGURED. */
export function networkByDefault(env = process.env): string {
  const path = env['RUNNEL_NETWORK'] || localNetwork()
  if (path === undefined) throw nodeError('NETWORK_NOT_CONFIGURED')
  return path
}

/** Undefined also where it is another user's: who works in a foreign folder would join a foreign network. */
function localNetwork(): string | undefined {
  const stats = mayEnter(dirname(localNetworkFile)) && statSync(localNetworkFile, { throwIfNoEntry: false })
  if (!stats || (process.getuid !== undefined && stats.uid !== process.getuid())) return undefined
  notice(`network: ${localNetworkFile}`)
  return localNetworkFile
}

export const isNetworkUrl = (text: string): boolean => /^https?:\/\//.test(text)

/** What follows # is not sent to the server. */
function documentAt(url: string): Extract<NetworkSource, { kind: 'document' }> {
  const [source = '', owner = ''] = url.split('#')
  if (!isNodeId(owner)) throw nodeError('NETWORK_OWNER_MISSING', source)
  return { kind: 'document', owner, sources: [source] }
}

/** A file in a directory that only another user may enter, such as what `runnel up` writes, is readable by its mode: the error says what is not. */
function withClosedDirectory(error: unknown, path: string): unknown {
  if (!isRunnelError(error, 'NETWORK_FILE_UNREADABLE')) return error
  const closed = closedDirectory(resolve(path), mayEnter)
  if (closed === undefined) return error
  const remedy = `Ask its owner to copy the file elsewhere, or to give you access: chmod o+x ${closed}.`
  return new RunnelError(error.code, `${path}: only the owner of ${closed} may enter it`, remedy, {
    cause: error,
  })
}

/** The topmost directory on the way to a file that this process may not enter; undefined when there is none. */
export function closedDirectory(path: string, isOpen: (directory: string) => boolean): string | undefined {
  const above = dirname(path)
  if (above === path) return undefined
  return closedDirectory(above, isOpen) ?? (isOpen(above) ? undefined : above)
}

function mayEnter(directory: string): boolean {
  try {
    accessSync(directory, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The network's chain. Throws also CHAIN_NOT_CONFIGURED when it has none. */
export function readChain(file: string | undefined): Extract<DescribedNetwork, { kind: 'chain' }> {
  const source = readNetwork(file)
  if (source.kind !== 'chain')
    throw nodeError('CHAIN_NOT_CONFIGURED', 'this one uses a signed document instead')
  return source
}
