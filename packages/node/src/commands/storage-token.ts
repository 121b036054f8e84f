import {
  anyRequester,
  createIdentity,
  loadCrypto,
  parsePrivateKey,
  signAccessToken,
  toNodeId,
} from '@runnel/protocol'
import { accessHeader } from '@runnel/storage/http'
import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { parseDurationMs } from '../cli/duration.ts'
import { printResult } from '../cli/output.ts'
import { requireKey } from '../keys/resolve-key.ts'

export const storageToken = defineCommand({
  name: 'storage token',
  describe: 'Print an authorization header for reading from a storage node over HTTP',
  positionals: { node: { describe: 'Node id of the storage node', required: true } },
  options: {
    ...networkOptions,
    for: { type: 'string', requiresArg: true, default: '1h', describe: 'How long it is good for, up to 24h' },
  },
  examples: [
    [
      'storage token 0x5b38…ddc4 --key my.key',
      'Then: curl -H "authorization: …" http://127.0.0.1:7171/v1/streams/0xowner%2Flobby/partitions/0/messages?last=10',
    ],
  ],
  epilogue:
    'Whoever has it may read from that storage node what the user of the key may subscribe to, until it expires. Public streams need none. It is made without asking the network.',
  run: async ({ node, key, for: duration, json }) => {
    const storageNodeId = toNodeId(node)
    const expiresMs = Date.now() + Math.round(parseDurationMs(duration, 'for'))
    const crypto = await loadCrypto()
    const identity = createIdentity(parsePrivateKey(requireKey({ key, env: process.env })), crypto)
    const claim = { requesterId: anyRequester, storageNodeId, expiresMs }
    const authorization = accessHeader(signAccessToken(claim, crypto, identity))
    printResult({ authorization, expiresMs }, json, [authorization])
  },
})
