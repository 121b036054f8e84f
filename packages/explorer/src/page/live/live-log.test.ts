import { describe, expect, it } from 'vitest'
import { contentText, LiveLog, liveLogLimits, typedContent } from './live-log.ts'
import { liveSentence } from './live-sentences.ts'

const publisherId = `0x${'a'.repeat(40)}`

const at = (timestamp: number, sequenceNumber = 0, keyId?: string) => ({
  ...{ publisherId, messageChainId: 'chain', timestamp, sequenceNumber, keyId },
})

describe('the live log', () => {
  it('keeps the newest messages, and counts all', () => {
    const log = new LiveLog()
    for (let n = 0; n < 1_500; n++) {
      log.came(at(1_000, n), 1_000 + n, false)
      log.opened(at(1_000, n), { n })
    }
    expect(log.received).toBe(1_500)
    expect(log.messages).toHaveLength(liveLogLimits.maxMessages)
    expect(log.messages[0]).toMatchObject({ sequenceNumber: 1_499, text: '{"n":1499}', delayMs: 1_499 })
    const delays = log.delaysMs()
    expect([delays.length, delays[0], delays.at(-1)]).toEqual([liveLogLimits.maxDelays, 500, 1_499])
    log.opened(at(1_000, 7), 'too late')
    expect(log.messages[199]).toMatchObject({ sequenceNumber: 1_300 })
  })

  it('shows no delay below zero, where clocks differ', () => {
    const log = new LiveLog()
    log.came(at(2_000), 1_000, false)
    expect(log.delaysMs()).toEqual([0])
  })

  it('measures no delay of what this page publishes, and counts it', () => {
    const log = new LiveLog()
    log.came(at(1_000), 1_007, true)
    log.came(at(1_001), 1_090, false)
    expect([log.received, log.delaysMs()]).toEqual([2, [89]])
    expect(log.messages).toMatchObject([{ delayMs: 89 }, { delayMs: 7 }])
  })

  it('shows each message once, whatever is known of it first', () => {
    const log = new LiveLog()
    log.opened(at(3, 0, 'key'), 'early')
    log.came(at(3, 0, 'key'), 5, false)
    log.stored(at(1, 0, 'key'))
    log.unread(at(2, 0, 'key'), 'no key')
    log.stored(at(3, 0, 'key'))
    expect(log.received).toBe(1)
    expect(log.messages).toMatchObject([
      { timestamp: 3, keyId: 'key', text: 'early', trouble: undefined, delayMs: 2 },
      { timestamp: 2, keyId: 'key', text: undefined, trouble: 'no key', delayMs: undefined },
      { timestamp: 1, keyId: 'key', text: undefined, trouble: undefined },
    ])
  })

  it('shows any content as text of bounded length', () => {
    expect(contentText('<b>hello</b>')).toBe('<b>hello</b>')
    expect(contentText(Uint8Array.from([1, 255]))).toBe('2 bytes: 01 ff')
    expect(contentText(new Uint8Array(1_000)).length).toBeLessThan(250)
    expect(contentText('x'.repeat(10_000)).length).toBe(liveLogLimits.maxMessageChars + 1)
    expect(contentText({ evil: '\u202e' })).toBe('{"evil":"\ufffd"}')
  })

  it('takes what was typed for JSON where it is', () => {
    expect(typedContent('{"a":1}')).toEqual({ kind: 'JSON', content: { a: 1 } })
    expect(typedContent('hello')).toEqual({ kind: 'text', content: 'hello' })
  })
})

describe('errors of the client', () => {
  it('are said in a sentence', () => {
    const denied = Object.assign(new Error('x'), { code: 'NO_PUBLISH_PERMISSION' })
    expect(liveSentence(denied)).toMatch(/may not publish/)
    expect(liveSentence(new Error('odd\u202e'))).toBe('That failed: odd\ufffd')
    expect(liveSentence(Object.assign(new Error('y'), { code: 'toString' }))).toBe('That failed: y')
  })
})
