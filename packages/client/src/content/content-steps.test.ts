import { RunnelError } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import type { ContentStep } from './content-step.ts'
import { ContentSteps } from './content-steps.ts'
import { chain, textMessage, textOf, xorStep } from './content.testkit.ts'

const { signal } = new AbortController()

/** One that puts a letter before what it seals, at once or later; its letter is its name and the message's content type. */
function lettering(letter: string, isLate: boolean): ContentStep {
  const contentType = letter.charCodeAt(0)
  const inTime = <T>(value: T): T | Promise<T> => (isLate ? Promise.resolve(value) : value)
  return {
    name: letter,
    seal: (messages) =>
      inTime(
        messages.map((message) => ({
          ...message,
          timestamp: 99,
          contentType,
          content: Uint8Array.of(contentType, message.contentType, ...message.content),
        })),
      ),
    isSealed: (message) => message.contentType === contentType,
    open: (message) =>
      inTime({ ...message, contentType: message.content[1] ?? 0, content: message.content.subarray(2) }),
  }
}

describe('content steps', () => {
  it.each([
    ['that need no time', [false, false, false]],
    ['that need time', [true, true, true]],
    ['of which some need time', [true, false, true]],
  ])('%s seal in order and open backwards, and leave places alone', async (_, late) => {
    const steps = new ContentSteps(
      late.map((isLate, i) => lettering('xyz'[i] ?? '', isLate)),
      signal,
    )
    const messages = [textMessage(1), textMessage(2)]
    const sealing = steps.seal(messages, chain)
    expect(sealing instanceof Promise).toBe(late.includes(true))
    const sealed = await sealing
    expect(sealed.map((message) => textOf(message))).toEqual(['zyyxx\u00021', 'zyyxx\u00022'])
    expect(sealed.map(({ timestamp }) => timestamp)).toEqual([1, 2])
    const opened = await Promise.all(sealed.map(async (message) => steps.open({ ...chain, ...message })))
    expect(opened).toEqual(messages)
  })

  it('leave alone what they did not seal, without taking time', () => {
    const message = textMessage(1)
    expect(new ContentSteps([xorStep(1)], signal).open(message)).toBe(message)
  })

  it('that fail have a code, or one of their own, and a cause', async () => {
    const own = new RunnelError('NO_KEY', 'no key', 'ask for it')
    const failing = (error: Error, isLate: boolean): ContentStep => {
      const fail = (): Promise<never> => {
        if (isLate) return Promise.reject(error)
        throw error
      }
      return { name: 'failing', seal: fail, isSealed: () => true, open: fail }
    }
    for (const isLate of [false, true]) {
      const steps = new ContentSteps([failing(new Error('broken'), isLate)], signal)
      const seal = async () => steps.seal([textMessage(1)], chain)
      const open = async () => steps.open(textMessage(1))
      const cause = expect.objectContaining({ message: 'broken' }) as Error
      await expect(seal()).rejects.toMatchObject({ code: 'CONTENT_NOT_SEALED', cause })
      await expect(open()).rejects.toMatchObject({ code: 'CONTENT_UNREADABLE', cause })
      const owning = new ContentSteps([failing(own, isLate)], signal)
      await expect((async () => owning.open(textMessage(1)))()).rejects.toBe(own)
    }
  })

  it('that lose a message are refused', () => {
    const losing: ContentStep = { ...lettering('x', false), seal: () => [] }
    expect(() => new ContentSteps([losing], signal).seal([textMessage(1)], chain)).toThrow(
      expect.objectContaining({ code: 'CONTENT_NOT_SEALED' }),
    )
  })
})
