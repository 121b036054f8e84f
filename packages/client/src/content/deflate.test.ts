import fc from 'fast-check'
import { deflateRawSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { ContentSteps } from './content-steps.ts'
import { chain, textMessage, textOf, xorStep } from './content.testkit.ts'
import { compressing, describeDeflate, large, plain, sealed } from './deflate-suite.testkit.ts'
import { deflateStep } from './deflate.ts'

describeDeflate()

describe('compression', () => {
  it('gives back byte for byte what it was given', async () => {
    const contents = fc.uint8Array({ minLength: 1_024, maxLength: 5_000, max: 20 })
    await fc.assert(
      fc.asyncProperty(contents, fc.nat({ max: 127 }), async (content, contentType) => {
        const message = { ...large, content, contentType }
        expect(await plain.open(await sealed(message))).toEqual(message)
      }),
    )
  })

  it('is not tried where it gains nothing: small contents need no time at all', async () => {
    const small = [textMessage(1), textMessage(2)]
    expect(compressing.seal(small, chain)).toBe(small)
    const noise = { ...large, content: crypto.getRandomValues(new Uint8Array(5_000)) }
    expect(await sealed(noise)).toEqual(noise)
    expect(plain.seal([large], chain)).toEqual([large])
    expect(plain.open(large)).toBe(large)
  })

  it('stops reading a bomb of any size', async () => {
    const content = new Uint8Array(deflateRawSync(new Uint8Array(1_000_000_000)))
    await expect(plain.open({ ...large, contentType: 0x80, content })).rejects.toMatchObject({
      message: expect.stringContaining('deflate: more than 1048576 bytes') as string,
    })
  })

  it('comes before encryption, when there is both', async () => {
    const both = new ContentSteps([deflateStep({ compress: true }), xorStep(7)], new AbortController().signal)
    const message = await sealed(large, both)
    expect(message).toMatchObject({ contentType: 0, encryptionType: 200 })
    expect(message.content.length).toBeLessThan(large.content.length / 10)
    expect(textOf(await both.open(message))).toBe(textOf(large))
  })
})
