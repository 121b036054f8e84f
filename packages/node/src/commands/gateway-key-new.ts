import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineCommand } from '../cli/command.ts'
import { parseDurationMs } from '../cli/duration.ts'
import { notice, printResult } from '../cli/output.ts'
import { nodeError } from '../errors.ts'
import {
  hashOfKey,
  inTurn,
  newApiKey,
  problemsOf,
  readKeysFile,
  writeKeysFile,
  type KeyEntryInput,
} from '../gateway/access/keys-file.ts'
import { userOfFile } from '../gateway/access/user-of-file.ts'
import { keysFileOption } from './gateway-keys-option.ts'

const pattern = { type: 'string', array: true, default: [] as string[] } as const
const most = { type: 'number' } as const

export const gatewayKeyNew = defineCommand({
  name: 'gateway key new',
  describe: 'Make a key for the gateways of a node, and print it once',
  positionals: { name: { describe: 'Name of the key: letters, digits, or . _ -', required: true } },
  options: {
    ...keysFileOption,
    publish: {
      ...pattern,
      describe: 'Stream that it may publish to: 0xowner/path, /path or 0xowner/prefix/#',
    },
    subscribe: { ...pattern, describe: 'Stream that it may read, in the same form' },
    as: {
      type: 'string',
      describe: 'User that it acts for: a delegation file, or a key file. Default: the user of the node',
    },
    'reading-key': {
      type: 'string',
      describe: 'With a delegation: reading key file, to decrypt',
    },
    certificate: {
      type: 'string',
      describe: 'Instead of a key: SHA-256 fingerprint of a client certificate',
    },
    expires: {
      type: 'string',
      describe: 'How long it is valid, such as 30d. Default: until it is removed',
    },
    'max-messages-per-s': { ...most, describe: 'Messages that it may publish per second. Default: 1000' },
    'max-bytes-per-s': {
      ...most,
      describe: 'Bytes of content that it may publish per second. Default: 8 MiB',
    },
    'max-message-bytes': { ...most, describe: 'Bytes of content in one message. Default: 1 MiB' },
    'max-connections': { ...most, describe: 'Connections at once. Default: 100' },
  },
  examples: [
    [
      "gateway key new sensors --publish '/sensors/#' --subscribe /commands",
      'Prints the key; gateway-keys.json keeps its hash',
    ],
  ],
  run: async ({ name, file, certificate, expires, json, as, ...args }) => {
    const key = certificate === undefined ? newApiKey() : undefined
    const lastsMs = expires === undefined ? undefined : parseDurationMs(expires, 'expires', 3650)
    const readingKey = args['reading-key']
    const entry: KeyEntryInput = {
      name,
      keyHash: key && hashOfKey(key),
      certificate: certificate?.replaceAll(':', '').toLowerCase(),
      as: as && resolve(as),
      readingKey: readingKey && resolve(readingKey),
      ...{ publish: args.publish, subscribe: args.subscribe },
      ...{ maxMessagesPerS: args['max-messages-per-s'], maxBytesPerS: args['max-bytes-per-s'] },
      ...{ maxMessageBytes: args['max-message-bytes'], maxConnections: args['max-connections'] },
      expires: lastsMs === undefined ? undefined : new Date(Date.now() + lastsMs).toISOString(),
    }
    if (as !== undefined) await userOfFile(as)
    await inTurn(file, () => {
      const before = existsSync(file) ? readKeysFile(file) : []
      if (before.some((other) => other.name === name)) throw nodeError('GATEWAY_NAME_TAKEN', name)
      requireUseful(entry)
      writeKeysFile(file, [...before, entry])
    })
    notice(
      `${name} is in ${file}: have a node use it with --gateway-keys-file ${file}, and --http-gateway-enabled or --mqtt-enabled`,
    )
    printResult({ file, name, ...(key && { key }) }, json, [key ?? `${name} is its certificate`])
  },
})

/** Throws USAGE where an option is wrong, or the key may do nothing. */
function requireUseful(entry: KeyEntryInput): void {
  const problems = problemsOf(entry).map(({ field, problem }) => `${optionOf(field)} ${problem}`)
  if (problems.length > 0) throw nodeError('USAGE', problems.join('; '))
  if (entry.publish?.length === 0 && entry.subscribe?.length === 0)
    throw nodeError('USAGE', 'the key may do nothing: give --publish or --subscribe')
}

/** The option that a field of an entry is from. */
function optionOf(field: string): string {
  return field === 'name' ? field : `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
