import { expect, it } from 'vitest'
import { ownSentence } from './own-sentence.ts'

it('says in one’s own picture why the others do not see it', () => {
  const obstacle = 'your network is too slow'
  expect(ownSentence({ isTaken: false, obstacle: undefined })).toBe('You')
  expect(ownSentence({ isTaken: false, obstacle })).toBe(
    'You, sound only: your network is too slow for video now',
  )
  expect(ownSentence({ isTaken: true, obstacle })).toMatch(/^You, not seen: another program has the camera/)
})
