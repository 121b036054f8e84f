import { expect, it } from 'vitest'
import { BytesReader, piecesOf } from './bytes-reader.ts'

it('is called off and closed while its source brings nothing, and is no stream', async () => {
  const never = new Promise<never>(() => {})
  const call = new AbortController()
  const reader = new BytesReader(
    { [Symbol.asyncIterator]: () => ({ next: () => never, return: () => never }) },
    call.signal,
  )
  const taken = reader.take(1)
  call.abort()
  await expect(taken).rejects.toBe(call.signal.reason)
  await expect(reader.take(1)).rejects.toBe(call.signal.reason)
  await reader.close()
})

it('takes bytes as they are, and nothing that is no stream of them', async () => {
  const reader = new BytesReader(piecesOf(Buffer.from('abc')), new AbortController().signal)
  expect([...(await reader.take(2)), ...(await reader.take(2))]).toEqual([...Buffer.from('abc')])
  for (const wrong of ['voice.opus', undefined, null, 7, {}])
    expect(() => piecesOf(wrong as never)).toThrow(
      expect.objectContaining({
        code: 'FILE_INVALID',
        message: expect.stringContaining('it must be bytes, or a stream of them') as string,
      }),
    )
})
