import {
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  seededRandom,
  lossyCapability,
  urgentCapability,
  type Clock,
} from '@runnel/protocol'
import type { ConnectionLimits } from '../connection/limits.ts'
import type { ConnectionModules } from '../connection/open-connection.ts'

const crypto = await loadCrypto()

/** The modules of a node whose key is derived from its name. */
export function testModules(
  name: string,
  clock: Clock,
  limits: Partial<ConnectionLimits> = {},
): ConnectionModules {
  const random = seededRandom(name)
  return {
    clock,
    random,
    crypto,
    identity: createIdentity(generatePrivateKey(random), crypto),
    limits,
    agent: name,
    capabilities: [urgentCapability, lossyCapability].map((name) => ({ name, required: false })),
  }
}
