import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type RunnelClient } from '@runnel/client'
import type { ClientConfig } from '@runnel/client/browser'
import { storagePlugin } from '@runnel/storage'

const log = () => {}
const logger = { debug: log, info: log, warn: log, error: log }

export interface TestStorage {
  readonly client: RunnelClient
  stop(): Promise<void>
}

/** A real storage node, which pages dial by WebSocket at this port. `register`: puts it into the registry of a chain first. */
export async function startStorage(
  config: ClientConfig,
  { port, register = false }: { readonly port: number; readonly register?: boolean },
): Promise<TestStorage> {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-storage-'))
  const client = await createClient({
    ...config,
    nodePrivateKey: config.privateKey,
    transports: { websocket: { listen: { host: '127.0.0.1', port } }, webrtc: false },
  })
  if (register) await client.registerStorageNode(`ws://127.0.0.1:${port}`)
  const plugin = storagePlugin.create(storagePlugin.schema.parse({ directory }))
  await plugin.start({ client, logger })
  return {
    client,
    async stop() {
      await plugin.stop()
      await client.close()
      rmSync(directory, { recursive: true })
    },
  }
}
