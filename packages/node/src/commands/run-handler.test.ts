import { expect, it } from 'vitest'
import { runHandler } from './run-handler.ts'

const shell = (script: string) => runHandler(['sh', '-c', script], { a: 1 }, '0xme')

it('answers with what the program prints: JSON, else text, or nothing', async () => {
  expect(await shell('cat')).toEqual({ a: 1 })
  expect(await shell('echo "for $RUNNEL_PUBLISHER"')).toBe('for 0xme')
  expect(await shell('true')).toBeUndefined()
  await expect(shell('exit 3')).rejects.toThrow('ended with 3')
})

it('waits for no other program that keeps the output open', async () => {
  await expect(shell('yes 2> /dev/null & wait')).rejects.toThrow('ended with a signal')
})
