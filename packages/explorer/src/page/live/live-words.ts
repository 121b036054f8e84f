import { plural } from '../format.ts'
import type { MembershipState } from './membership.ts'
import type { Live } from './use-membership.ts'

const waiting = 'Joined; waiting for the first neighbour'

/** How the page takes part, in figures that change all the time. */
export function stateWords(phase: Live['phase'], state: MembershipState | undefined): string {
  if (phase === 'joining') return 'Joining…'
  const neighbours = state?.neighbours.length ?? 0
  if (neighbours === 0) return waiting
  return `${plural(neighbours, 'neighbour')}, ${plural(state?.received ?? 0, 'message')} received`
}

/** What a screen reader says by itself: changes that matter, and no figures. */
export function spokenWords(phase: Live['phase'], neighbours: number, isPaused: boolean): string {
  if (phase === 'out') return ''
  if (phase === 'joining') return 'Joining'
  return `${neighbours === 0 ? waiting : 'Joined'}${isPaused ? ', paused' : ''}`
}
