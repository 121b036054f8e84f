import { expect, it } from 'vitest'
import { counterNames } from './counter-names.ts'
import { counterHelp } from './counters.ts'

it('each counter has a help text, and each text a counter', () => {
  expect(counterNames).toEqual(Object.keys(counterHelp))
})
