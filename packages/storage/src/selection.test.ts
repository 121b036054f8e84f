import { toStreamId, toStreamPartId } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { pagesOf } from './selection.ts'

it('reads a small page first, and each of the others while the one before is in use', async () => {
  const asked: { readonly maxBytes: number; readonly after?: string }[] = []
  const read = (_: unknown, options: (typeof asked)[number]) => {
    asked.push(options)
    return Promise.resolve({ batches: [], next: asked.length < 3 ? `${asked.length}` : undefined })
  }
  const range = {
    streamPartId: toStreamPartId(toStreamId(`0x${'a'.repeat(40)}/pages`), 0),
    from: { timestamp: 0, sequenceNumber: 0 },
    to: { timestamp: 9, sequenceNumber: 0 },
  }
  const pages = pagesOf({ read }, range, { pageBytes: 1_000, firstPageBytes: 10 })
  await pages.next()
  expect(asked).toEqual([{ maxBytes: 10 }, { maxBytes: 1_000, after: '1' }])
  await pages.next()
  expect(asked.at(-1)).toEqual({ maxBytes: 1_000, after: '2' })
})
