import { expect, it } from 'vitest'
import { lastValuesFault, lastValuesIn } from './last-values.ts'

it.each([
  ['{"lastValues":true}', true],
  ['{"lastValues":false}', false],
  ['{"lastValues":"yes"}', false],
  ['{}', false],
  ['free text', false],
])('the owner of a stream with the metadata %s asks for last values: %s', (metadata, asks) => {
  expect(lastValuesIn(metadata)).toBe(asks)
})

it('is true or false', () => {
  expect([true, false].map(lastValuesFault)).toEqual([undefined, undefined])
  expect([1, 'true', null, {}].map(lastValuesFault)).not.toContain(undefined)
})
