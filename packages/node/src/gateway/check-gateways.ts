import type { BrokerConfig } from '../config/schema.ts'
import { nodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'

/**
 * Says what keeps the gateways of a broker from working, before anything is opened: throws GATEWAY_NO_KEYS, and warns of keys that are for
 * nothing. Whether there is a gateway.
 */
export function checkGateways(
  { gateway, httpGateway, mqtt }: Pick<BrokerConfig, 'gateway' | 'httpGateway' | 'mqtt'>,
  logger: Pick<Logger, 'warn'>,
): boolean {
  const { keysFile } = gateway
  const isAny = httpGateway.enabled || mqtt.enabled
  if (isAny && keysFile === undefined) throw nodeError('GATEWAY_NO_KEYS', 'gateway.keysFile is not set')
  if (!isAny && keysFile !== undefined)
    logger.warn(
      { keysFile },
      'there are keys of gateways, and no gateway: enable one with httpGateway.enabled or mqtt.enabled',
    )
  return isAny
}
