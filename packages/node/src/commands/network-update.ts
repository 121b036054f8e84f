import { editDocument, type DocumentChange } from '@runnel/client/network-document'
import { toNodeId, toStreamId, type NodeId, type StreamId } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { readDocument, writeDocument } from '../cli/network-document.ts'
import { printResult } from '../cli/output.ts'
import { nodeError } from '../errors.ts'
import { nameKey } from '../keys/key-file.ts'
import { requireKey } from '../keys/resolve-key.ts'
import { parseDate, parsePermissions, parseUser } from './grant-arguments.ts'

/** The words after each change. */
const changes = {
  'add-stream': '/PATH',
  'remove-stream': 'STREAM',
  grant: 'STREAM USER|public PERMISSION…',
  revoke: 'STREAM USER|public PERMISSION…',
  'add-tracker': 'NODE_ID URL',
  'remove-tracker': 'NODE_ID',
  'add-storage': 'STREAM NODE_ID URL',
  'remove-storage': 'STREAM NODE_ID',
} as const
type ChangeName = keyof typeof changes
const names = Object.keys(changes) as ChangeName[]

export const networkUpdate = defineCommand({
  name: 'network update',
  describe: 'Change the signed document of a network without a chain',
  positionals: {
    change: { describe: 'Kind of change', required: true, choices: names },
    words: {
      describe: names.map((name) => `${name} ${changes[name]}`).join('; '),
      required: true,
      many: true,
    },
  },
  options: {
    file: {
      type: 'string',
      default: 'network.json',
      describe: 'The document, which is replaced by its next revision',
    },
    key: { ...networkOptions.key, describe: 'Key file of the network’s owner (also RUNNEL_KEY)' },
    partitions: {
      type: 'number',
      default: 1,
      describe: 'Partitions of a new stream, 1 to 100',
    },
    metadata: {
      type: 'string',
      default: '{}',
      describe: 'Metadata of a new stream; by convention JSON',
    },
    until: {
      type: 'string',
      describe: 'When granted publish and subscribe permissions end, such as 2030-01-31',
    },
  },
  examples: [
    ['network update add-stream /orders --file network.json --key owner.key', 'Prints the stream id'],
    ['network update grant /orders 0x5b38…ddc4 subscribe --key owner.key', 'Nodes follow within seconds'],
    [
      'network update add-tracker 0x5b38…ddc4 wss://t3.example --key owner.key',
      'Also changes the URL of a known tracker',
    ],
  ],
  epilogue:
    'Trackers and nodes that read the file follow the change at once. If others read it from a server, replace the file there.',
  run: async ({ change: name, words, file, key, partitions, metadata, until, json }) => {
    const privateKey = requireKey({ key, env: process.env })
    const { nodeId: owner } = await nameKey(privateKey)
    const before = await readDocument(file, owner)
    const untilMs = until === undefined ? Infinity : parseDate(until).getTime()
    const change = changeOf(name as ChangeName, words, { owner, partitions, metadata, untilMs })
    // As it stands in the file: what is read of it has the defaults filled in.
    const { network } = JSON.parse(before.text) as { network: Parameters<typeof editDocument>[0]['network'] }
    const after = editDocument({ ...before, network }, change, Date.now())
    await writeDocument(file, after, privateKey)
    const streamId = 'streamId' in change ? change.streamId : undefined
    printResult({ file, revision: after.revision, ...(streamId && { streamId }) }, json, [
      ...(change.kind === 'add-stream' ? [change.streamId] : []),
      `${file} is revision ${after.revision}`,
    ])
  },
})

interface Given {
  readonly owner: NodeId
  readonly partitions: number
  readonly metadata: string
  readonly untilMs: number
}

/** Throws USAGE, or what is wrong with an id. */
function changeOf(kind: ChangeName, words: readonly string[], given: Given): DocumentChange {
  const [first = '', second = '', third = ''] = words
  const { owner, partitions, metadata, untilMs } = given
  const count = kind === 'grant' || kind === 'revoke' ? Infinity : changes[kind].split(' ').length
  const least = Math.min(count, 3)
  if (words.length < least || words.length > count)
    throw nodeError('USAGE', `network update ${kind} takes ${changes[kind]}`)
  switch (kind) {
    case 'add-stream':
      return { kind, streamId: streamOf(first, owner), partitions, metadata }
    case 'remove-stream':
      return { kind, streamId: streamOf(first, owner) }
    case 'grant':
    case 'revoke': {
      const grant = { user: parseUser(second), permissions: parsePermissions(words.slice(2)), untilMs }
      return { kind, streamId: streamOf(first, owner), grant }
    }
    case 'add-tracker':
      return { kind, tracker: { nodeId: toNodeId(first), url: second } }
    case 'remove-tracker':
      return { kind, nodeId: toNodeId(first) }
    case 'add-storage':
      return { kind, streamId: streamOf(first, owner), node: { nodeId: toNodeId(second), url: third } }
    case 'remove-storage':
      return { kind, streamId: streamOf(first, owner), nodeId: toNodeId(second) }
  }
}

const streamOf = (text: string, owner: NodeId): StreamId =>
  toStreamId(text.startsWith('/') ? `${owner}${text}` : text)
