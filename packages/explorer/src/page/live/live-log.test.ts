import { describe, expect, it } from 'vitest'
import { contentText, LiveLog, liveLogLimits, typedContent } from './live-log.ts'
import { liveSentence } from './live-sentences.ts'

const publisherId = `0x${'a'.repeat(40)}`

describe('the live log', () => {
  it('keeps the newest messages, and counts all', () => {
    const log = new LiveLog()
    for (let n = 0; n < 1_500; n++) log.add({ publisherId, timestamp: 1_000, content: { n } }, 1_000 + n)
    expect(log.received).toBe(1_500)
    expect(log.messages).toHaveLength(liveLogLimits.maxMessages)
    expect(log.messages[0]).toMatchObject({ key: 1_500, text: '{"n":1499}', delayMs: 1_499 })
    const delays = log.delaysMs()
    expect([delays.length, delays[0], delays.at(-1)]).toEqual([liveLogLimits.maxDelays, 500, 1_499])
  })

  it('shows no delay below zero, where clocks differ', () => {
    const log = new LiveLog()
    log.add({ publisherId, timestamp: 2_000, content: '' }, 1_000)
    expect(log.delaysMs()).toEqual([0])
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
    expect(liveSentence(new Error('odd\u202e'))).toBe('It did not work: odd\ufffd')
    expect(liveSentence(Object.assign(new Error('y'), { code: 'toString' }))).toBe('It did not work: y')
  })
})
