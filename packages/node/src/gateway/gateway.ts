import type { Clock } from '@runnel/protocol'
import type { GatewayAccess } from './access/access.ts'
import { Callers } from './callers.ts'
import { GatewayCounts } from './counts.ts'
import { gatewayLimits } from './limits.ts'
import { GatewayPublisher, type PublishAnswer } from './publishing/gateway-publisher.ts'
import { Idempotency } from './publishing/idempotency.ts'
import { PublishedStreams } from './publishing/published-streams.ts'

/** What the routes of a gateway share. */
export interface Gateway {
  readonly callers: Callers
  readonly counts: GatewayCounts
  readonly publisher: GatewayPublisher
  readonly idempotency: Idempotency<PublishAnswer>
  readonly clock: Clock
}

export function createGateway(access: GatewayAccess, clock: Clock): Gateway {
  const counts = new GatewayCounts()
  const streams = new PublishedStreams(gatewayLimits)
  return {
    callers: new Callers(access),
    counts,
    publisher: new GatewayPublisher({ counts, streams }),
    idempotency: new Idempotency(gatewayLimits, clock),
    clock,
  }
}
