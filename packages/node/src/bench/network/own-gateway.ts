import { join } from 'node:path'
import type { BrokerConfigInput } from '../../config/schema.ts'
import { hashOfKey, newApiKey, writeKeysFile } from '../../gateway/access/keys-file.ts'
import type { UpDirectory } from '../../up/directory.ts'
import { freePort } from '@runnel/transport'

/** A key may do as much as the machine can. */
const unlimited = 1_000_000_000

/** Both gateways of a node, with a key that may do everything as the owner. */
export async function gatewayOf(directory: UpDirectory, ownerFile: string) {
  const key = newApiKey()
  const keysFile = join(directory.path, 'gateway-keys.json')
  writeKeysFile(keysFile, [
    {
      ...{ name: 'bench', keyHash: hashOfKey(key), as: ownerFile, publish: ['/#'], subscribe: ['/#'] },
      ...{ maxMessagesPerS: unlimited, maxBytesPerS: unlimited, maxConnections: unlimited },
    },
  ])
  const [httpPort, mqttPort] = [await freePort(), await freePort()]
  const config: BrokerConfigInput = {
    gateway: { keysFile },
    httpGateway: { enabled: true, port: httpPort, webSocket: true },
    mqtt: { enabled: true, port: mqttPort, directory: join(directory.path, 'mqtt') },
  }
  const address = { httpUrl: `http://127.0.0.1:${httpPort}`, mqttUrl: `mqtt://127.0.0.1:${mqttPort}`, key }
  return { config, address }
}
