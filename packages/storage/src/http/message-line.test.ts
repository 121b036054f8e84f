import { ContentType } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { at, batchOf, chainOf } from '../store/batches.testkit.ts'
import { linesOf } from './message-line.ts'

it('gives compressed content as the bytes it came in, and says what they hold', () => {
  const { messages, ...batch } = batchOf(chainOf(), [at(1)], 3, 7)
  const compressed = messages.map((message) => ({ ...message, contentType: 0x80 + ContentType.json }))
  const line = linesOf({ ...batch, messages: compressed }, { from: at(0), to: at(2), count: 1 })
  expect(JSON.parse(line)).toMatchObject({
    ...{ contentType: 'json', compression: 'deflate' },
    content: { base64: Buffer.of(7, 7, 7).toString('base64') },
  })
})
