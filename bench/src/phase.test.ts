import { expect, it } from 'vitest'
import { beginPhase, currentPhase, showProgress } from './phase.ts'

it('names the phase that began last, and how far it is when asked', () => {
  expect(currentPhase()).toBe('')
  beginPhase('relaying')
  let relayed = 0
  showProgress(() => `${relayed} of 3 messages`)
  relayed++
  expect(currentPhase()).toBe('relaying: 1 of 3 messages')
  beginPhase('reading')
  expect(currentPhase()).toBe('reading')
})
