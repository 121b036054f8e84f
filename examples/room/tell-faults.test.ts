import { expect, it } from 'vitest'
import { mediaError } from '../../packages/media/src/errors.ts'
import { tellFaults } from './tell-faults.ts'

it('says each fault once, with what it means and what helps, and no more than is of use', () => {
  const listeners: ((error: unknown) => void)[] = []
  const on = (_event: 'fault', listener: (error: unknown) => void) => listeners.push(listener)
  const said: string[] = []
  tellFaults({ on }, 'Others may not hear you', (sentence) => said.push(sentence))
  const fail = (error: unknown) => {
    for (const listener of listeners) listener(error)
  }
  for (let i = 0; i < 3; i++) fail(mediaError('SESSION_CLOSED', '0xa/room'))
  expect(said).toEqual([
    expect.stringMatching(/^Others may not hear you: .*session is closed.*\. Open another one\.$/),
  ])
  for (let i = 0; i < 100; i++) fail(new Error(`fault ${i}`))
  expect(said).toHaveLength(20)
})
