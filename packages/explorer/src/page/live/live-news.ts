import type { ClientStatus } from '@runnel/client/browser'
import { liveSentence } from './live-sentences.ts'

/** What keeps this page from taking part, as sentences: each ends by news of its own. */
export interface Troubles {
  /** Another page goes by the same key: for good. */
  readonly replaced?: string | undefined
  /** The user may not read the stream any more, or it is gone: for good. */
  readonly ended?: string | undefined
  readonly admission?: string | undefined
  readonly delegation?: string | undefined
}

/** What does after a status. A fault ends only some work, which the client takes up again. */
export function troublesAfter(status: ClientStatus, before: Troubles): Troubles {
  switch (status.type) {
    case 'replaced':
      return { ...before, replaced: liveSentence(status.error) }
    case 'subscription-ended':
      return { ...before, ended: liveSentence(status.error) }
    case 'admission':
      return { ...before, admission: status.error && liveSentence(status.error) }
    case 'delegation':
      if (status.state === 'ending') return before
      return { ...before, delegation: status.state === 'expired' ? liveSentence(expired()) : undefined }
    default:
      return before
  }
}

/** The one that lasts longest. */
export const worstOf = ({ replaced, ended, admission, delegation }: Troubles): string | undefined =>
  replaced ?? ended ?? admission ?? delegation

/** The status itself carries no such error. */
function expired(): Error {
  return Object.assign(new Error('the delegation has expired'), { code: 'DELEGATION_EXPIRED' })
}
