import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DescribedNetwork } from '../../cli/network-source.ts'
import { toStreamId, toStreamPartId } from '@runnel/protocol'
import type { BrokerConfigInput } from '../../config/schema.ts'
import { nodeError } from '../../errors.ts'
import { hashOfKey, newApiKey, writeKeysFile } from '../../gateway/access/keys-file.ts'
import { startChild } from '../../up/child.ts'
import { claimDirectory, type UpDirectory } from '../../up/directory.ts'
import { freePort } from '@runnel/transport'
import { openHttpUser } from './http-users.ts'
import type { BenchUser, UserFactory, UserOptions } from './user.ts'

/** More than any publisher here sends. */
const unlimited = 1_000_000_000

/** Users that are broker nodes, `runnel node`, each in a process of its own and driven over its HTTP gateway. */
export function processUsers(): UserFactory {
  const path = mkdtempSync(join(tmpdir(), 'runnel-bench-users-'))
  const directory = claimDirectory(path)
  return {
    leavesOut:
      'nothing of a node; it is reached over HTTP, one message after the other, which takes about a millisecond each, and what is urgent goes as ordinary messages',
    open: (options) => openProcessUser(directory, options),
    stop: () => {
      directory.release()
      rmSync(path, { recursive: true, force: true })
      return Promise.resolve()
    },
  }
}

async function openProcessUser(directory: UpDirectory, options: UserOptions): Promise<BenchUser> {
  const { place, role, part } = options
  const name = `user-${role.number}`
  const key = newApiKey()
  const keysFile = join(directory.path, `${name}-gateway-keys.json`)
  const streamId = toStreamId(part.streamId)
  const allowed = { publish: [streamId], subscribe: [streamId] }
  const rates = { maxMessagesPerS: unlimited, maxBytesPerS: unlimited }
  writeKeysFile(keysFile, [{ name: 'bench', keyHash: hashOfKey(key), ...allowed, ...rates }])
  const port = await freePort()
  const config: BrokerConfigInput = {
    network: directory.writeJson('network.json', fileOf(place.network)),
    key: (await directory.key(name)).file,
    ...(place.user?.privateKey === undefined ? {} : { as: userFile(directory, place.user.privateKey) }),
    ...{ logLevel: 'warn', http: { port: 0 }, websocket: { host: place.host, port: 0 } },
    ...{ gateway: { keysFile }, httpGateway: { enabled: true, port } },
    // It takes part with the first reader or message; so it does before.
    streams: [streamId],
  }
  const child = await startChild({
    ...{ name, logFile: directory.logFile(name), signal: options.signal },
    args: ['node', '--config', directory.writeJson(`nodes/${name}.json`, config)],
    onDeath: (_, how) => options.onError(nodeError('UP_CHILD_DIED', `${name}: ${how}`)),
  })
  try {
    const user = await openHttpUser({ url: `http://127.0.0.1:${port}`, key }, options)
    const streamPartId = toStreamPartId(streamId, part.partition)
    return {
      publish: (content, urgent) => user.publish(content, urgent),
      dropped: () => undefined,
      neighbours: async () => {
        const snapshot = await child.snapshot()
        const found = snapshot?.streamParts.find((one) => one.streamPartId === streamPartId)
        return { has: found?.neighbours.length ?? 0, wants: found?.wantedNeighbours ?? 0 }
      },
      stop: async () => {
        await user.stop()
        await child.stop()
      },
    }
  } catch (error) {
    await child.stop()
    throw error
  }
}

/** What a network file says of it. */
function fileOf(source: DescribedNetwork): unknown {
  if (source.kind === 'static') return source.document
  const { kind, ...rest } = source
  return { version: 1, [kind]: rest }
}

function userFile(directory: UpDirectory, privateKey: string): string {
  const file = join(directory.path, 'keys', 'user.key')
  writeFileSync(file, `${privateKey.replace(/^0x/, '')}\n`, { mode: 0o600 })
  return file
}
