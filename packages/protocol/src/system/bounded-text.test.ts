import { expect, it, vi } from 'vitest'
import { boundedText } from './bounded-text.ts'

/** An answer in these pieces, which ends after them. */
function answerOf(pieces: readonly Uint8Array[], cancel = () => {}): Response {
  const left = [...pieces]
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const piece = left.shift()
    if (piece === undefined) controller.close()
    else controller.enqueue(piece)
  }
  return new Response(new ReadableStream({ pull, cancel }))
}

it('is the whole text, also where a character is in two pieces', async () => {
  const bytes = new TextEncoder().encode('grün')
  expect(await boundedText(answerOf([bytes.subarray(0, 3), bytes.subarray(3)]), bytes.length)).toBe('grün')
  expect(await boundedText(new Response(null), 0)).toBe('')
})

it('is none where it is longer than it may be, and what comes after is not read', async () => {
  const cancel = vi.fn()
  const piece = new Uint8Array(10)
  expect(await boundedText(answerOf([piece, piece, piece], cancel), 19)).toBeUndefined()
  expect(cancel).toHaveBeenCalledOnce()
})
