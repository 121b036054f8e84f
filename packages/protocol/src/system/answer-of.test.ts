import { describe, expect, it } from 'vitest'
import { answerOf } from './answer-of.ts'

describe('the answer of a registry', () => {
  const changing = (changes: number, unknown: 'unknown' | undefined) => {
    let lookUps = 0
    const check = () => (lookUps > changes ? 'allowed' : unknown)
    const lookUp = () => Promise.resolve(void lookUps++)
    return { answer: () => answerOf(check, lookUp), lookUps: () => lookUps }
  }

  it.each(['unknown', undefined] as const)(
    'is looked up again when a change makes it %s',
    async (unknown) => {
      const { answer, lookUps } = changing(2, unknown)
      expect([await answer(), lookUps()]).toEqual(['allowed', 3])
      expect([await answer(), lookUps()]).toEqual(['allowed', 3])
    },
  )

  it('is not looked up for ever', async () => {
    const { answer, lookUps } = changing(Infinity, 'unknown')
    expect([await answer(), lookUps()]).toEqual(['unknown', 8])
  })

  it('is an error where nobody can be asked', async () => {
    const away = answerOf(
      () => 'unknown',
      () => Promise.reject(new Error('away')),
    )
    await expect(away).rejects.toThrow('away')
  })
})
