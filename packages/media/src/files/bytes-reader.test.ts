import { expect, it } from 'vitest'
import { BytesReader } from './bytes-reader.ts'

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
