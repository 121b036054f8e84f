import { describe, expect, it } from 'vitest'
import { readLines } from './read-lines.ts'

async function linesOf(chunks: readonly string[], maxBytes = 10) {
  const lines = []
  for await (const line of readLines(bytesOf(chunks), maxBytes)) lines.push(line.text)
  return lines
}

async function* bytesOf(chunks: readonly string[]) {
  for (const chunk of chunks) yield Buffer.from(chunk)
}

describe('readLines', () => {
  it.each([
    [['a\nb\n'], ['a', 'b']],
    [['a\nb'], ['a', 'b']],
    [
      ['a', 'b', '\n', '\nc'],
      ['ab', '', 'c'],
    ],
    [['a\r\nb\r\n'], ['a', 'b']],
    [[], []],
    [['\n'], ['']],
    [['ä\n'], ['ä']],
  ])('%j is %j', async (chunks, lines) => {
    expect(await linesOf(chunks)).toEqual(lines)
  })

  it('keeps nothing of a line beyond the limit, and goes on', async () => {
    expect(await linesOf(['1234567890\n12345', '678901\nok\n'])).toEqual(['1234567890', undefined, 'ok'])
  })

  it('numbers lines from 1', async () => {
    const numbers = []
    for await (const line of readLines(bytesOf(['a\n\nb']), 10)) numbers.push(line.number)
    expect(numbers).toEqual([1, 2, 3])
  })
})
