import { expect, it } from 'vitest'
import { clientError } from '../errors.ts'
import { memoryStore } from '../identity/session-store.ts'
import { withRoom } from './with-room.ts'

it('keeps in memory what its store has no room for, until there is some', () => {
  const origin = memoryStore()
  let isFull = true
  const store = withRoom({
    ...origin,
    set(name, text) {
      if (isFull) throw clientError('STORAGE_BLOCKED', 'it is full')
      origin.set(name, text)
    },
  })
  const both = () => [store.get('session'), origin.get('session')]
  origin.set('session', 'before')
  store.set('session', 'signed')
  expect(both()).toEqual(['signed', 'before'])
  isFull = false
  store.set('session', 'signed again')
  expect(both()).toEqual(['signed again', 'signed again'])
  isFull = true
  store.set('session', 'once more')
  store.remove('session')
  expect(both()).toEqual([undefined, undefined])
})
