import { ContentType } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { at, batchOf, chainOf } from '../store/batches.testkit.ts'
import { linesOf } from './message-line.ts'

it('gives headers beside the content, and what are none with it', () => {
  const { messages, ...batch } = batchOf(chainOf(), [at(1), at(2)], 3, 7)
  const contents = [Buffer.from('01' + '0161' + '0162' + '37', 'hex'), Buffer.of(0)]
  const headed = messages.map((one, i) => ({
    ...one,
    contentType: 0x41,
    content: contents[i] ?? one.content,
  }))
  const lines = linesOf({ ...batch, messages: headed }, { from: at(0), to: at(2), count: 2 })
  expect(lines.trim().split('\n').map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { contentType: 'json', headers: { a: 'b' }, content: 7 },
    { contentType: 'unknown', content: { base64: 'AA==' } },
  ]) // prettier-ignore
})

it('gives compressed content as the bytes it came in, and says what they hold', () => {
  const { messages, ...batch } = batchOf(chainOf(), [at(1)], 3, 7)
  const compressed = messages.map((message) => ({ ...message, contentType: 0x80 + ContentType.json }))
  const line = linesOf({ ...batch, messages: compressed }, { from: at(0), to: at(2), count: 1 })
  expect(JSON.parse(line)).toMatchObject({
    ...{ contentType: 'json', compression: 'deflate' },
    content: { base64: Buffer.of(7, 7, 7).toString('base64') },
  })
})
