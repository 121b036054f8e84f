import { natKinds, type NatKind } from './nat-kinds.ts'
import { theoryOf, type Helpers, type Outcome } from './theory.ts'

/** Which servers the tracker names to the nodes. */
export const helperSets = {
  'stun+turn': { stun: true, turn: 'udp', carrier: false },
  stun: { stun: true, carrier: false },
  'stun+turn-tcp': { stun: true, turn: 'tcp', carrier: false },
  'stun+turn-tls': { stun: true, turn: 'tls', carrier: false },
  'stun+carrier': { stun: true, carrier: true },
} as const satisfies Readonly<Record<string, Helpers>>
export type HelperSet = keyof typeof helperSets

/** Where two nodes are. */
export interface Scenario {
  readonly a: NatKind
  readonly b: NatKind
  /** Both in one local network, behind one NAT. */
  readonly together?: boolean
  /** The first one can be reached by WebSocket. */
  readonly reachable?: boolean
}

const pairs = natKinds.flatMap((a, index) => natKinds.slice(index).map((b): Scenario => ({ a, b })))

/** Every pair of kinds, and what pairs of kinds do not show. */
export const scenarios: readonly Scenario[] = [
  ...pairs,
  { a: 'symmetric', b: 'symmetric', together: true },
  { a: 'udp-blocked', b: 'udp-blocked', together: true },
  { a: 'public', b: 'udp-blocked', reachable: true },
]

export function expectedOf({ a, b, together, reachable }: Scenario, helpers: Helpers): Outcome {
  if (reachable) return 'websocket'
  return together ? 'direct' : theoryOf(a, b, helpers)
}

export function nameOf({ a, b, together, reachable }: Scenario): string {
  if (together) return `both behind one ${a}`
  return `${a}${reachable ? ' (WebSocket)' : ''} × ${b}`
}
