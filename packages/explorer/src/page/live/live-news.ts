import type { ClientStatus } from '@runnel/client/browser'
import { liveSentence } from './live-sentences.ts'

/** What keeps this page from taking part after a status, as a sentence; `before` where the status is about something else. */
export function troubleAfter(status: ClientStatus, before: string | undefined): string | undefined {
  switch (status.type) {
    case 'admission':
      return status.error && liveSentence(status.error)
    case 'delegation':
      if (status.state === 'expired') return liveSentence(expired())
      return status.state === 'renewed' ? undefined : before
    case 'replaced':
      return liveSentence(status.error)
    case 'fault':
      // What ends everything says more.
      return before ?? liveSentence(status.error)
    default:
      return before
  }
}

/** The status itself carries no such error. */
function expired(): Error {
  return Object.assign(new Error('the delegation has expired'), { code: 'DELEGATION_EXPIRED' })
}
