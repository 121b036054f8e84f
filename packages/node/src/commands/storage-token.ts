import {
  anyRequester,
  createIdentity,
  loadCrypto,
  parsePrivateKey,
  protocolError,
  signAccessToken,
  toNodeId,
  type Delegation,
} from '@runnel/protocol'
import { accessHeader, delegationHeader } from '@runnel/storage/http'
import { defineCommand } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { parseDurationMs } from '../cli/duration.ts'
import { printResult } from '../cli/output.ts'
import { nodeError } from '../errors.ts'
import { parseDelegation, problemOfHolder } from '../keys/delegations.ts'
import { resolveUser } from '../keys/resolve-user.ts'

export const storageToken = defineCommand({
  name: 'storage token',
  describe: 'Print an authorization header for reading from a storage node over HTTP',
  positionals: { node: { describe: 'Node id of the storage node', required: true } },
  options: {
    ...userOptions,
    for: { type: 'string', default: '1h', describe: 'How long it is valid, up to 24h' },
  },
  examples: [
    [
      'storage token 0x5b38…ddc4 --key my.key',
      'Then: curl -H "authorization: …" http://127.0.0.1:7171/v1/streams/0xowner%2Flobby/partitions/0/messages?last=10',
    ],
    [
      'storage token 0x5b38…ddc4 --as server.delegation',
      'Prints two headers: authorization, and runnel-delegation, which must be sent with it',
    ],
  ],
  epilogue:
    'Until it expires, whoever has the header may read from that storage node whatever the user may subscribe to and the delegation allows. Public streams need no header. The network is not contacted.',
  run: async ({ node, key, as, for: duration, json }) => {
    const storageNodeId = toNodeId(node)
    const nowMs = Date.now()
    const expiresMs = nowMs + Math.round(parseDurationMs(duration, 'for'))
    const user = resolveUser({ as, key, env: process.env })
    const privateKey = user?.delegation?.privateKey ?? user?.privateKey
    if (privateKey === undefined) throw nodeError('KEY_REQUIRED')
    const delegation = user?.delegation && parseDelegation(user.delegation.delegation)
    if (delegation !== undefined) await requireReading(delegation, privateKey, nowMs)
    const crypto = await loadCrypto()
    const identity = createIdentity(parsePrivateKey(privateKey), crypto)
    const claim = { requesterId: anyRequester, storageNodeId, expiresMs }
    const authorization = accessHeader(signAccessToken(claim, crypto, identity))
    const shown = delegation === undefined ? {} : { 'runnel-delegation': delegationHeader(delegation) }
    printResult({ authorization, ...shown, expiresMs }, json, [authorization, ...Object.values(shown)])
  },
})

/** Throws what is wrong with a delegation for reading with this key: DELEGATION_…, as far as is known without the network. */
async function requireReading(delegation: Delegation, privateKey: string, wallMs: number): Promise<void> {
  const problem = await problemOfHolder(delegation, { privateKey, chainId: undefined, wallMs })
  if (problem !== undefined) throw problem
  if (!delegation.reads) throw protocolError('DELEGATION_SCOPE', `${delegation.delegateId} may not read`)
}
