import { describe, expect, it } from 'vitest'
import { natKinds } from './nat-kinds.ts'
import { helperSets, scenarios } from './nat-scenarios.ts'
import { canConnectDirectly, theoryOf, type Helpers } from './theory.ts'

const pairs = natKinds.flatMap((a) => natKinds.map((b) => [a, b] as const))

describe('the table of what pairs of NATs allow', () => {
  it.each(pairs)('follows from how NATs map and filter: %s × %s', (a, b) => {
    const direct = theoryOf(a, b, { stun: true, turn: 'udp', carrier: false }) === 'direct'
    expect(direct).toBe(canConnectDirectly(a, b))
  })

  it.each(pairs)('does not depend on who is named first: %s × %s', (a, b) => {
    for (const helpers of Object.values(helperSets))
      expect(theoryOf(a, b, helpers)).toBe(theoryOf(b, a, helpers))
  })

  it('lets all but those that block UDP connect, with a relay', () => {
    const failing = (helpers: Helpers) => pairs.filter(([a, b]) => theoryOf(a, b, helpers) === 'none')
    expect(failing(helperSets['stun+turn']).every((pair) => pair.includes('udp-blocked'))).toBe(true)
    for (const name of ['stun+turn-tcp', 'stun+turn-tls', 'stun+carrier'] as const)
      expect(failing(helperSets[name])).toEqual([])
  })

  it('is looked at whole by the experiment', () => {
    for (const [a, b] of pairs) {
      const here = scenarios.filter((one) => (one.a === a && one.b === b) || (one.a === b && one.b === a))
      expect(here.filter(({ together, reachable }) => !together && !reachable)).toHaveLength(1)
    }
  })
})
