import type { Random } from '@runnel/protocol'
import { chance, drawPlan, oneOf, wholeFrom, type FuzzPlan } from '../fuzz-plan.ts'
import { withholdings } from './withholding.ts'

const most = { nodes: 6, hosts: 4, guests: 5, atOnce: 3 }

/** A world in which anything happens, with guests. */
export function drawGuestsPlan(random: Random): FuzzPlan {
  const plan = drawPlan(random)
  const draw = random.fork('guests')
  const hosts = wholeFrom(2, most.hosts, draw)
  const withholding = chance(0.5, draw) ? 0 : wholeFrom(1, hosts - 1, draw)
  return {
    ...plan,
    nodes: Math.min(plan.nodes, most.nodes),
    // Keys cost more than all else, and what is told of them guests are told like others.
    sealed: undefined,
    guests: {
      hosts,
      guests: wholeFrom(1, most.guests, draw),
      atOnce: wholeFrom(2, most.atOnce, draw),
      withheld: Array.from({ length: withholding }, () => oneOf(withholdings, draw) ?? 'some'),
      joinsForGuests: chance(0.5, draw),
    },
  }
}
