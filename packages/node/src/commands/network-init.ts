import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isTrackerUrl } from '@runnel/client'
import {
  editDocument,
  newDocument,
  type DocumentChange,
  type NamedUrl,
  type NetworkDocument,
} from '@runnel/client/network-document'
import { limits, toStreamId, type NodeId } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { writeDocument } from '../cli/network-document.ts'
import { printResult } from '../cli/output.ts'
import { thisProgram } from '../cli/program-name.ts'
import { shellWord } from '../cli/shell-word.ts'
import { nodeError } from '../errors.ts'
import { createKeyFile } from '../keys/key-file.ts'

const defaultTrackers = ['ws://127.0.0.1:30300', 'ws://127.0.0.1:30301']

export const networkInit = defineCommand({
  name: 'network init',
  describe: 'Make a network without a chain: the keys of its owner and trackers, and a signed document',
  options: {
    dir: {
      type: 'string',
      default: 'network',
      describe: 'Directory for the keys and network.json',
    },
    tracker: {
      type: 'string',
      array: true,
      default: defaultTrackers,
      describe: 'URL by which nodes dial a tracker; repeat it for each tracker',
    },
    stream: {
      type: 'string',
      array: true,
      default: [] as string[],
      describe: 'Path of a stream that only its owner may use until others get permissions; may be repeated',
    },
    'public-stream': {
      type: 'string',
      array: true,
      default: [] as string[],
      describe: 'Path of a stream that everybody may use; may be repeated',
    },
  },
  examples: [
    ['network init --public-stream /lobby', 'Two trackers on this machine; prints how to start them'],
    [
      'network init --tracker wss://t1.example --tracker wss://t2.example --stream /orders',
      'Trackers behind TLS proxies, and an encrypted stream',
    ],
  ],
  epilogue:
    'Keep owner.key safe, away from servers: whoever has it can change the network. Make changes with: runnel network update.',
  run: async ({ dir, tracker: urls, stream, 'public-stream': open, json }) => {
    const file = join(dir, 'network.json')
    if (existsSync(file)) throw nodeError('FILE_EXISTS', file)
    for (const url of urls) checkUrl(url)
    const ownerKeyFile = join(dir, 'owner.key')
    const owner = await createKeyFile(ownerKeyFile)
    const trackers: (NamedUrl & { key: string })[] = []
    for (const [i, url] of urls.entries()) {
      const key = join(dir, `tracker-${i + 1}.key`)
      trackers.push({ key, url, nodeId: (await createKeyFile(key)).nodeId })
    }
    const nodes = trackers.map(({ nodeId, url }) => ({ nodeId, url }))
    const streams = [...stream, ...open]
    const document = withStreams(newDocument(owner.nodeId, nodes), owner.nodeId, stream, open)
    await writeDocument(file, document, owner.privateKey)
    const commands = trackers.map(({ key, url }) => trackerCommand(file, key, url))
    printResult({ file, owner: owner.nodeId, ownerKey: ownerKeyFile, trackers, streams, commands }, json, [
      `owner     ${owner.nodeId}, key in ${ownerKeyFile}`,
      ...trackers.map(({ nodeId, url, key }) => `tracker   ${nodeId} ${url}, key in ${key}`),
      ...document.network.streams.map(({ id }) => `stream    ${id}`),
      `document  ${file}, revision 1`,
      'Start the trackers:',
      ...commands.map((command) => `  ${command}`),
      `Each serves the document under /v1/network-document. A node: ${thisProgram()} node --network ${shellWord(resolve(file))}, or elsewhere`,
      `  ${thisProgram()} node --network ${shellWord(`${httpOf(urls[0] ?? '')}/v1/network-document#${owner.nodeId}`)}`,
    ])
  },
})

/** Still the first revision: it was never seen without them. */
function withStreams(
  empty: NetworkDocument,
  owner: NodeId,
  closed: readonly string[],
  open: readonly string[],
): NetworkDocument {
  const nowMs = Date.now()
  const next = (document: NetworkDocument, change: DocumentChange): NetworkDocument => {
    const history = new Map(Object.entries(document.history))
    return { ...editDocument({ ...document, history }, change, nowMs), revision: 1 }
  }
  let document = empty
  for (const path of [...closed, ...open]) {
    const streamId = toStreamId(`${owner}${path.startsWith('/') ? '' : '/'}${path}`)
    document = next(document, { kind: 'add-stream', streamId, partitions: 1, metadata: '{}' })
    if (!open.includes(path)) continue
    const grant = { user: 'public', permissions: ['publish', 'subscribe'], untilMs: Infinity } as const
    document = next(document, { kind: 'grant', streamId, grant })
  }
  return document
}

/** Throws USAGE. */
function checkUrl(url: string): void {
  if (isTrackerUrl(url)) return
  throw nodeError(
    'USAGE',
    `--tracker takes ws://… or wss://… of at most ${limits.maxUrlBytes} bytes, not "${url}"`,
  )
}

/** On this machine it listens where its URL says, and elsewhere behind a proxy. */
function trackerCommand(file: string, key: string, url: string): string {
  const { protocol, hostname, port } = new URL(url)
  const isLocal = protocol === 'ws:' && hostname === '127.0.0.1'
  const place = isLocal ? `--port ${port || '80'}` : `--public-url ${shellWord(url)}`
  const words = [`--key ${shellWord(resolve(key))}`, `--network ${shellWord(resolve(file))}`, place]
  return `${thisProgram()} tracker ${words.join(' ')}`
}

const httpOf = (url: string) => url.replace(/^ws/, 'http').replace(/\/$/, '')
