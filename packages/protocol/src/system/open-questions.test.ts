import { expect, it } from 'vitest'
import { OpenQuestions } from './open-questions.ts'

it('puts each question once, however often it is asked while others are answered', async () => {
  const questions = new OpenQuestions()
  const open = new Map<number, PromiseWithResolvers<void>>()
  const known = new Set<number>()
  let put = 0
  const askAll = (): void => {
    for (let n = 0; n < 1000; n++) if (!known.has(n)) questions.ask(`${n}`, () => ask(n), askAll)
  }
  const ask = (n: number): Promise<void> => {
    put++
    const answer = Promise.withResolvers<void>()
    open.set(n, answer)
    return answer.promise
  }
  askAll()
  for (const [n, { resolve, promise }] of open) {
    known.add(n)
    resolve()
    await promise
  }
  expect([put, known.size]).toEqual([1000, 1000])
})

it('puts a question again that had no answer', async () => {
  const questions = new OpenQuestions()
  const answers: boolean[] = []
  const settled = async (ask: () => Promise<void>) =>
    new Promise<void>((resolve) =>
      questions.ask('a', ask, (found) => {
        answers.push(found)
        resolve()
      }),
    )
  await settled(() => Promise.reject(new Error('away')))
  await settled(() => Promise.resolve())
  expect(answers).toEqual([false, true])
})
