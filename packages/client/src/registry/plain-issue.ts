import type { z } from 'zod/mini'

/** What people call the types of JSON. */
const names: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object {…}',
  record: 'an object {…}',
  null: 'null',
}

/** What a schema found wrong at one place, in words for who wrote the file. */
export function plainIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') {
    return `has no ${issue.keys.length > 1 ? 'keys' : 'key'} ${issue.keys.map((key) => `"${key}"`).join(', ')}`
  }
  const mismatch = /^Invalid input: expected (\S+)(?:, received (\S+))?$/.exec(issue.message)
  if (!mismatch) return issue.message.replace(/^Invalid input: /, '')
  const [, expected = '', received] = mismatch
  if (received === 'undefined') return 'is missing'
  const is = received === undefined ? '' : `, is ${names[received] ?? received}`
  return `must be ${names[expected] ?? expected}${is}`
}
