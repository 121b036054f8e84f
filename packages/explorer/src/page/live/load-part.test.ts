import { describe, expect, it } from 'vitest'
import { liveSentence } from './live-sentences.ts'
import { loadPart } from './load-part.ts'

describe('a part of the page', () => {
  it('that is gone makes the page incomplete: reloading it helps', async () => {
    const loading = Promise.reject(new TypeError('Failed to fetch dynamically imported module'))
    const error = await loadPart(loading).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'PAGE_INCOMPLETE' })
    expect(liveSentence(error)).toMatch(/Reload the page\.$/)
    expect(await loadPart(Promise.resolve('part'))).toBe('part')
  })
})
