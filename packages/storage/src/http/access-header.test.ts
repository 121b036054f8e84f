import { isRunnelError, type RunnelError } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { parseAccessHeader, parseDelegationHeader } from './access-header.ts'

function thrownBy(work: () => unknown): RunnelError {
  try {
    work()
  } catch (error) {
    if (isRunnelError(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

it('Headers that are not there say nothing', () => {
  expect([parseAccessHeader(undefined), parseDelegationHeader(undefined)]).toEqual([undefined, undefined])
})

it.each([
  ['TOKEN_INVALID', () => parseAccessHeader('Runnel abcd')],
  ['DELEGATION_FORGED', () => parseDelegationHeader('01ab')],
  ['DELEGATION_FORGED', () => parseDelegationHeader('02')],
])('A header that is not well-formed is %s, with what decoding said', (code, parse) => {
  const error = thrownBy(parse)
  expect(error.code).toBe(code)
  expect(isRunnelError(error.cause)).toBe(true)
})
