import { ContentType, limits, type MessageDraft } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { ContentSteps } from './content-steps.ts'
import { chain, textMessage } from './content.testkit.ts'
import { deflateStep, typeInside } from './deflate.ts'

const { signal } = new AbortController()
export const compressing = new ContentSteps([deflateStep({ compress: true })], signal)
export const plain = new ContentSteps([deflateStep({ compress: false })], signal)
export const large = textMessage(1, 'content that repeats, '.repeat(1_000))

const fromHex = (hex: string) => Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))

/** Made by zlib. */
const repeated = fromHex('2b2acdcb4bcd51281aa546a9516a941aa5e8430100')

/** What zlib makes of 1,048,576 zeros; with 0x4e in place of 0x3e they are one more. */
function zeros(lastByteButOne: 0x3e | 0x4e): Uint8Array {
  const bytes = new Uint8Array(1_033)
  bytes.set(fromHex('edc13101000000c2a0f54f6d085fa0'))
  bytes.set([lastByteButOne, 3], bytes.length - 2)
  return bytes
}

const compressedText = (content: Uint8Array) => ({ ...large, contentType: 0x80 + ContentType.text, content })

export async function sealed(message: MessageDraft, steps = compressing) {
  const [one] = await steps.seal([message], chain)
  if (one === undefined) throw new Error('nothing was sealed')
  return { ...chain, ...one }
}

/** What has to hold wherever a client runs: with the streams of Node, and with those of each browser. */
export function describeDeflate(): void {
  describe('compressed content', () => {
    it('is smaller, says what it holds, and opens to what it was, also for those who do not compress', async () => {
      const message = await sealed(large)
      expect(message.content.length).toBeLessThan(large.content.length / 10)
      expect(typeInside(message.contentType)).toBe(ContentType.text)
      expect(await plain.open(message)).toEqual(large)
    })

    it('opens when others made it, up to the size that content may have', async () => {
      const { content } = await plain.open(compressedText(repeated))
      expect(new TextDecoder().decode(content)).toBe('runnel '.repeat(200))
      const { content: largest } = await plain.open(compressedText(zeros(0x3e)))
      expect(largest.length).toBe(limits.maxContentBytes)
    })

    const unreadable: Record<string, Uint8Array> = {
      'a bomb': zeros(0x4e),
      'no DEFLATE': new TextEncoder().encode('no deflate'),
      'cut off': repeated.subarray(0, -4),
      'followed by something': Uint8Array.of(...repeated, 0),
      nothing: new Uint8Array(),
    }
    for (const [name, content] of Object.entries(unreadable)) {
      it(`is unreadable when it is ${name}`, async () => {
        await expect(Promise.resolve(plain.open(compressedText(content)))).rejects.toMatchObject({
          code: 'CONTENT_UNREADABLE',
        })
      })
    }
  })
}
