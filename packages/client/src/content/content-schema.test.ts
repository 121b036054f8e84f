import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkContent, type ContentSchema } from './content-schema.ts'

const schema = z.object({ celsius: z.number(), where: z.object({ room: z.string() }) })

describe('a schema', () => {
  it('gives content as it transforms it', () => {
    const content = { celsius: 21, where: { room: 'kitchen' } }
    expect(checkContent(content, schema)).toEqual(content)
    expect(checkContent('21', z.string().transform(Number))).toBe(21)
  })

  it('says where content does not fit', () => {
    expect(() => checkContent({ celsius: 21, where: { room: 1 } }, schema)).toThrow(
      expect.objectContaining({ code: 'CONTENT_MISMATCH', message: expect.stringContaining('where.room: ') }),
    )
    expect(() => checkContent(undefined, schema)).toThrow(
      expect.objectContaining({ code: 'CONTENT_MISMATCH' }),
    )
  })

  it('passes on only the beginning of what it says, which may quote the content', () => {
    const hostile = 'x'.repeat(10_000)
    const quoting: ContentSchema<never> = {
      '~standard': {
        ...{ version: 1, vendor: 'test' },
        validate: (content) => ({ issues: [{ message: String(content), path: [{ key: hostile }] }] }),
      },
    }
    expect(() => checkContent(hostile, quoting)).toThrow(
      expect.objectContaining({ code: 'CONTENT_MISMATCH', message: expect.stringMatching(/^.{0,300}$/) }),
    )
  })

  it('that answers later is refused', () => {
    expect(() =>
      checkContent(
        'a',
        z.string().refine(async () => true),
      ),
    ).toThrow()
    const later: ContentSchema<unknown> = {
      '~standard': { ...{ version: 1, vendor: 'test' }, validate: async (value) => ({ value }) },
    }
    expect(() => checkContent('a', later)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
  })
})
