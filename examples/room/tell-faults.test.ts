import type { MediaEvents, MediaSession } from '@runnel/media/page'
import { expect, it } from 'vitest'
import { mediaError } from '../../packages/media/src/errors.ts'
import { tellFaults } from './tell-faults.ts'

it('says once what could not be published, and what helps; and no more than is of use', () => {
  const listeners: ((...args: MediaEvents['fault']) => void)[] = []
  const on = (_event: string, listener: (typeof listeners)[number]) => {
    listeners.push(listener)
    return () => {}
  }
  const said: string[] = []
  tellFaults({ on: on as MediaSession['on'] }, (sentence) => said.push(sentence))
  const fail = (error: unknown) => {
    for (const listener of listeners) listener(error)
  }
  for (let i = 0; i < 3; i++) fail(mediaError('SESSION_CLOSED', '0xa/room'))
  expect(said).toEqual([
    expect.stringMatching(/^Others may not see or hear you: .*session is closed.*\. Open another one\.$/),
  ])
  for (let i = 0; i < 100; i++) fail(new Error(`fault ${i}`))
  expect(said).toHaveLength(20)
})
