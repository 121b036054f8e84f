import { verifyMembership, type Clock, type Crypto } from '@runnel/protocol'
import type { RegistryAnswers } from '../core/roles.ts'
import type { Permissions } from './tracker-runtime.ts'

/** The registry's policies in the form the core needs: synchronous, and without a clock. */
export function registryAnswers(
  { readers, publishers }: Permissions,
  { clock, crypto }: { readonly clock: Clock; readonly crypto: Crypto },
): RegistryAnswers {
  return {
    readsForMs: (streamId, userId) => readers.readsForMs(streamId, userId),
    mayPublish(streamId, userId) {
      const answer = publishers.check(streamId, userId, clock.now())
      return answer === 'unknown' ? undefined : answer === 'allowed'
    },
    verifyMembership: (token, nodeId) => verifyMembership(token, nodeId, clock.now(), crypto),
  }
}
