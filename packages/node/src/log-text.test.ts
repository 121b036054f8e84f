import { describe, expect, it } from 'vitest'
import { createLogger } from './logger.ts'

function linesOf(format: 'text' | 'json'): {
  readonly lines: string[]
  readonly logger: ReturnType<typeof createLogger>
} {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  return { lines, logger: createLogger('info', 'test', { format, destination }) }
}

describe('createLogger', () => {
  it('writes text for people', () => {
    const { lines, logger } = linesOf('text')
    logger.info({ streamId: '0x1/a', partitions: 3, key: 'secret' }, 'in the stream')
    expect(lines).toEqual([
      expect.stringMatching(
        /^\d\d:\d\d:\d\d info {2}in the stream {2}streamId=0x1\/a {2}partitions=3 {2}key=\[secret\]\n$/,
      ),
    ])
  })

  it('keeps what others wrote from moving the cursor', () => {
    const { lines, logger } = linesOf('text')
    logger.warn({ peer: 'a\u001b[2Jb' }, 'c\u0007d')
    expect(lines.join('')).toMatch(/WARN {2}c.d {2}peer=a.\[2Jb\n$/)
    expect(lines.join('')).not.toMatch(/[\u0007\u001b]/)
  })

  it('writes the stack of an error below', () => {
    const { lines, logger } = linesOf('text')
    logger.error({ err: new Error('no luck') }, 'a fault')
    expect(lines.join('')).toMatch(/ERROR a fault\n {4}Error: no luck\n {8}at /)
  })

  it('writes JSON for programs', () => {
    const { lines, logger } = linesOf('json')
    logger.info({ streamId: '0x1/a' }, 'in the stream')
    expect(JSON.parse(lines.join(''))).toMatchObject({ level: 30, streamId: '0x1/a', msg: 'in the stream' })
  })
})
