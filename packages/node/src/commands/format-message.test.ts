import { toNodeId, toStreamId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { formatMessage } from './format-message.ts'

const publisherId = toNodeId(`0x${'a'.repeat(40)}`)
const message = {
  ...{ streamId: toStreamId(`${publisherId}/x`), partition: 0, publisherId, messageChainId: 'c' },
  ...{
    timestamp: 5,
    sequenceNumber: 1,
    previous: undefined,
    keyId: undefined,
    contentType: 'json' as const,
    headers: {},
    key: undefined,
    isRemoval: false,
    urgent: undefined,
  },
}

describe('formatMessage', () => {
  it.each([
    [{ a: 1 }, '{"a":1}\n'],
    ['two\nlines', '"two\\nlines"\n'],
    [null, 'null\n'],
    ['\u009b2J \u202eevil \u200b\u2028', '"\\u009b2J \\u202eevil \\u200b\\u2028"\n'],
    [Buffer.from('hi'), '{"base64":"aGk="}\n'],
  ])('is one line of JSON', (content, line) => {
    expect(formatMessage({ ...message, content }, false)).toBe(line)
  })

  it('names the stream where there may be several', () => {
    expect(formatMessage({ ...message, content: 1 }, false, true)).toBe(
      `{"streamId":"${publisherId}/x","content":1}\n`,
    )
  })

  it('lets nothing of a name reach the terminal either', () => {
    const line = formatMessage({ ...message, messageChainId: '\u009b31m', content: '' }, true)
    expect(line).toContain('"messageChainId":"\\u009b31m"')
  })

  it('has everything about the message with meta', () => {
    const headers = { trace: 'a' }
    const { isRemoval: _, ...plain } = message
    expect(
      JSON.parse(formatMessage({ ...message, keyId: 'e1', headers, key: 'k', content: [1] }, true)),
    ).toEqual({
      ...{ ...plain, keyId: 'e1', headers, key: 'k' },
      previous: null,
      content: [1],
    })
    expect(formatMessage({ ...message, content: 1 }, true)).not.toContain('headers')
  })
})
