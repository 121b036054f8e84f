import type { NodeSnapshot } from './snapshot.ts'

/** Why a node cannot do its work now. */
export interface NotReady {
  readonly code:
    'NO_TRACKER' | 'NODE_REPLACED' | 'NOT_ADMITTED' | 'CLOCK_WRONG' | 'STORAGE_FAILED' | 'STREAMS_UNREAD'
  readonly message: string
}

/** What keeps a node that runs from doing its work; empty when it is ready. */
export function notReadyReasons(snapshot: NodeSnapshot): NotReady[] {
  const { trackers, isReplaced, admissionProblem, clockProblem, streams, plugins } = snapshot
  const reasons: NotReady[] = []
  if (isReplaced)
    reasons.push({
      code: 'NODE_REPLACED',
      message:
        'another process with the same node key took the place of this one: stop it, or give each its own key, and restart this one',
    })
  else if (!trackers.some(({ connected }) => connected)) {
    const tried = trackers.length === 0 ? '' : `; tried: ${trackers.map(({ nodeId }) => nodeId).join(', ')}`
    reasons.push({ code: 'NO_TRACKER', message: `no tracker is connected${tried}` })
  }
  if (admissionProblem !== undefined)
    reasons.push({ code: 'NOT_ADMITTED', message: `${admissionProblem.message} (${admissionProblem.code})` })
  if (clockProblem !== undefined) reasons.push({ code: 'CLOCK_WRONG', message: clockProblem.message })
  if (plugins.storage?.isHealthy === false)
    reasons.push({
      code: 'STORAGE_FAILED',
      message: `${plugins.storage.location} does not open, or cannot be written`,
    })
  if (!streams.isRead)
    reasons.push({ code: 'STREAMS_UNREAD', message: 'the registry has not said yet which streams there are' })
  return reasons
}
