import type { ClientStatus } from '@runnel/client/browser'
import { liveSentence, trackerSentence } from './live-sentences.ts'

/** What keeps this page from taking part, as sentences: each ends by news of its own. */
export interface Troubles {
  /** Another page goes by the same key: for good. */
  readonly replaced?: string | undefined
  /** The user may not read the stream any more, or it is gone: for good. */
  readonly ended?: string | undefined
  readonly admission?: string | undefined
  readonly delegation?: string | undefined
  /** No tracker can be reached, or none takes this page: no trouble while it has neighbours. */
  readonly tracker?: string | undefined
  readonly trackers?: ReadonlySet<string>
  readonly hasNeighbours?: boolean
  /** Messages were not taken for their times: for good, as they are not shown. */
  readonly refused?: string | undefined
}

/** What does after a status, where one stream part is shown. A fault ends only some work, which the client takes up again. */
export function troublesAfter(status: ClientStatus, before: Troubles, partId: string): Troubles {
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
    case 'tracker':
      return { ...before, ...trackersAfter(status, before) }
    case 'neighbours':
      // Encrypted streams have another part, with their keys.
      if (status.streamPartId !== partId) return before
      return { ...before, hasNeighbours: status.neighbours.length > 0 }
    case 'dropped':
      // Any neighbour can have many dropped.
      if (before.refused !== undefined || status.error === undefined) return before
      return { ...before, refused: liveSentence(status.error) }
    default:
      return before
  }
}

function trackersAfter(
  { trackerId, state, error }: Extract<ClientStatus, { type: 'tracker' }>,
  { trackers = new Set(), tracker }: Troubles,
): Pick<Troubles, 'trackers' | 'tracker'> {
  if (state === 'connected') return { trackers: new Set([...trackers, trackerId]), tracker: undefined }
  const others = new Set([...trackers].filter((other) => other !== trackerId))
  return { trackers: others, tracker: others.size === 0 && error ? trackerSentence(error) : tracker }
}

/** The one that lasts longest. */
export const worstOf = (troubles: Troubles): string | undefined => {
  const { replaced, ended, admission, delegation, refused } = troubles
  const tracker = troubles.hasNeighbours === true ? undefined : troubles.tracker
  return replaced ?? ended ?? admission ?? delegation ?? tracker ?? refused
}

/** The status itself carries no such error. */
function expired(): Error {
  return Object.assign(new Error('the delegation has expired'), { code: 'DELEGATION_EXPIRED' })
}
