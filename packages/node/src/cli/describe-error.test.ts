import { describe, expect, it } from 'vitest'
import { describeError } from './describe-error.ts'

describe('describeError', () => {
  it.each([
    ['EACCES', 'mkdir', 'FILE_UNWRITABLE'],
    ['EROFS', 'open', 'FILE_UNWRITABLE'],
    ['EACCES', 'stat', 'FILE_UNREADABLE'],
    ['EIO', 'read', 'INTERNAL'],
  ])('of the operating system: %s at %s is %s', (code, syscall, described) => {
    const text = `${code}: refused, ${syscall} '/home/alice/x'`
    const error = Object.assign(new Error(text), { code, syscall, path: '/home/alice/x' })
    expect(describeError(error)).toMatchObject({
      ...{ code: described, message: expect.stringContaining(text) },
    })
  })
})
