import { describe, expect, it } from 'vitest'
import { encryptionChoiceFault, encryptionChoiceIn } from './encryption-choice.ts'

const keyHolder = `0x${'a'.repeat(40)}`

describe('the choice of a stream’s encryption', () => {
  it.each([
    [{}],
    [{ content: 'never' }],
    [{ content: 'always', history: 'none', keyHolder, onOutage: 'stop', rotateAfterDays: 365 }],
  ])('can be %j', (encryption) => {
    expect(encryptionChoiceFault(encryption)).toBeUndefined()
    expect(encryptionChoiceIn(JSON.stringify({ encryption }))).toEqual(encryption)
  })

  it.each([
    ['no object', null],
    ['a list', []],
    ['an unknown field', { cipher: 'none' }],
    ['an unknown content', { content: 'no' }],
    ['an unknown history', { history: 1 }],
    ['an unknown outage', { onOutage: 'panic' }],
    ['a holder that is no address', { keyHolder: 'me' }],
    ['a holder whose address is too short', { keyHolder: '0x12' }],
    ['no day', { rotateAfterDays: 0 }],
    ['part of a day', { rotateAfterDays: 1.5 }],
    ['days as text', { rotateAfterDays: '7' }],
  ])('that is %s has a fault, and encrypts', (_, encryption) => {
    expect(encryptionChoiceFault(encryption)).toMatch(/^encryption/)
    expect(encryptionChoiceIn(JSON.stringify({ encryption }))).toEqual({ content: 'always' })
  })

  it('is left to the defaults in metadata that says nothing', () => {
    for (const metadata of ['', '{}', 'no JSON', '[]', 'null'])
      expect(encryptionChoiceIn(metadata)).toEqual({})
  })
})
