import { expect, it } from 'vitest'
import { encryptionSentence } from './encryption-news.ts'

it('what becomes of a stream while nobody says who may read says which of the two its owner chose', () => {
  const sentence = (isStopped: boolean) =>
    encryptionSentence('0xab/private', { state: 'uncertain', isStopped, error: new Error('no answer') })
  expect(sentence(true)).toContain('nothing is published there until it does')
  expect(sentence(false)).toContain('its last key stays in use')
  expect(sentence(false)).not.toContain('nothing is published')
})
