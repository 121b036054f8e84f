import { createIdentity, loadCrypto, parsePrivateKey, type NodeId } from '@runnel/protocol'
import { readUserFile } from '@runnel/client'
import { resolveKey, type KeySources } from '../keys/resolve-key.ts'
import { failureOf, ok, warning, type Finding } from './finding.ts'

/** Whether the key of the node can be read, and by nobody else; and who the node is. */
export async function checkKey(sources: KeySources): Promise<{ finding: Finding; nodeId?: NodeId }> {
  try {
    const key = resolveKey(sources)
    const remedy = 'Make one with runnel key new node.key, and name it in the setting key.'
    if (key === undefined)
      return { finding: warning('key', 'none: the node gets a new id at each start', remedy) }
    const { nodeId } = createIdentity(parsePrivateKey(key), await loadCrypto())
    const place = sources.key ?? 'the environment'
    return { finding: ok('key', `node ${nodeId}, from ${place}`), nodeId }
  } catch (error) {
    return { finding: failureOf('key', error) }
  }
}

/** Whether the file of the user can be read that the node acts for. */
export function checkUser(file: string): Finding {
  try {
    readUserFile(file)
    return ok('user', `acts for the user of ${file}`)
  } catch (error) {
    return failureOf('user', error)
  }
}
