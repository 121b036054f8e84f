import { actsForMs, verifyMembership, type Clock, type Crypto } from '@runnel/protocol'
import type { RegistryAnswers } from '../core/roles.ts'
import type { Permissions } from './tracker-runtime.ts'

/** The registry's policies in the form the core needs: synchronous, and without a clock. */
export function registryAnswers(
  { readers, publishers }: Permissions,
  { clock, crypto }: { readonly clock: Clock; readonly crypto: Crypto },
): RegistryAnswers {
  return {
    readsForMs(scope, userId, acting) {
      const delegatedMs = actsForMs(acting, 'reads', scope, clock.now())
      if (delegatedMs <= 0) return 0
      const forMs = readers.readsForMs(scope, userId, acting?.delegation)
      return forMs === undefined ? undefined : Math.min(forMs, delegatedMs)
    },
    mayPublish(scope, userId, acting) {
      const wallMs = clock.now()
      if (actsForMs(acting, 'publishes', scope, wallMs) <= 0) return false
      const answer = publishers.check(scope, userId, wallMs, undefined, acting?.delegation)
      return answer === 'unknown' ? undefined : answer === 'allowed'
    },
    membershipForMs(token, nodeId) {
      const wallMs = clock.now()
      return verifyMembership(token, nodeId, wallMs, crypto) ? token.expiresMs - wallMs : 0
    },
  }
}
