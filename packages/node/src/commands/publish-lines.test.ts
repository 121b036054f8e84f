import { RunnelError, toStreamId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { readLines } from '../cli/read-lines.ts'
import { maxLineBytes, publishLines, type PublishLinesOptions } from './publish-lines.ts'

const streamId = toStreamId(`0x${'a'.repeat(40)}/x`)

async function publishAll(
  input: string | Uint8Array,
  options: Partial<PublishLinesOptions> = {},
  comes = false,
) {
  const sent: unknown[] = []
  const invalid: string[] = []
  const client = {
    publish: async (_: unknown, given: unknown, { partitionKey }: { partitionKey?: string } = {}) => {
      const content = given instanceof Uint8Array ? Buffer.from(given).toString() : given
      if (content === 'huge') throw new RunnelError('MESSAGE_TOO_LARGE', 'too large', '')
      if (content === 'forbidden') throw new RunnelError('NO_PUBLISH_PERMISSION', 'no', '')
      sent.push(partitionKey === undefined ? content : [content, partitionKey])
      return { partition: 0, timestamp: 1, sequenceNumber: 0, neighbours: content === 'unheard' ? 0 : 4 }
    },
    network: {
      waitForNeighbours: async () => {
        if (!comes) throw new Error('nobody came')
      },
    },
  }
  const result = await publishLines(client as never, readLines(bytesOf(input), maxLineBytes), {
    ...{
      streamId,
      unit: 'line' as const,
      text: false,
      partitionKey: undefined,
      skipInvalid: false,
      signal: new AbortController().signal,
    },
    onInvalid: (error) => invalid.push(error.message),
    ...options,
  }).catch((error: unknown) => {
    const { code, message } = error as RunnelError
    return { code, message }
  })
  return { sent, invalid, result }
}

async function* bytesOf(text: string | Uint8Array) {
  yield typeof text === 'string' ? Buffer.from(text) : text
}

describe('publishLines', () => {
  it('publishes a JSON value a line and skips empty lines', async () => {
    const { sent, result } = await publishAll('{"a":1}\n\n[2]\n"three"\n4')
    expect(sent).toEqual(['{"a":1}', '[2]', 'three', '4'])
    expect(result).toEqual({ published: 4, skipped: 0, alone: 0 })
  })

  it('publishes JSON as it is written, whatever its numbers are in JavaScript', async () => {
    const lines = ['{"id": 12345678901234567890}', '[1e400, 1.0]']
    expect((await publishAll(lines.join('\n'))).sent).toEqual(lines)
  })

  it('refuses what is not UTF-8', async () => {
    for (const text of [true, false])
      expect((await publishAll(Buffer.from('"\xff"\n', 'latin1'), { text })).result).toMatchObject({
        code: 'INPUT_INVALID',
        message: expect.stringContaining('line 1: not UTF-8'),
      })
  })

  it('publishes text as it stands', async () => {
    expect((await publishAll('hello\n{"a"\n', { text: true })).sent).toEqual(['hello', '{"a"'])
  })

  it('stops at the first bad line, after those before it', async () => {
    const { sent, result } = await publishAll('1\n2\n{"a":\n4\n')
    expect(sent).toEqual(['1', '2'])
    expect(result).toMatchObject({
      code: 'INPUT_INVALID',
      message: expect.stringContaining('line 3: not JSON'),
    })
  })

  it('goes on when asked to, naming each bad line', async () => {
    const { sent, invalid, result } = await publishAll('1\n{\n"huge"\n4\n', { skipInvalid: true })
    expect(sent).toEqual(['1', '4'])
    expect(invalid).toEqual([
      expect.stringContaining('line 2: '),
      expect.stringContaining('line 3: too large'),
    ])
    expect(result).toEqual({ published: 2, skipped: 2, alone: 0 })
  })

  it('counts messages nobody was there to receive', async () => {
    expect((await publishAll('1\n"unheard"\n')).result).toEqual({ published: 2, skipped: 0, alone: 1 })
    const result = { published: 2, skipped: 0, alone: 0 }
    expect((await publishAll('1\n"unheard"\n', {}, true)).result).toEqual(result)
  })

  it('stops at anything that is not the fault of a line', async () => {
    const { result } = await publishAll('1\n"forbidden"\n', { skipInvalid: true })
    expect(result).toMatchObject({ code: 'NO_PUBLISH_PERMISSION' })
  })

  it('takes the partition key from a field', async () => {
    const { sent } = await publishAll('{"room":"kitchen"}\n{"room":7}\n', { partitionKey: 'room' })
    expect(sent).toEqual([
      ['{"room":"kitchen"}', 'kitchen'],
      ['{"room":7}', '7'],
    ])
  })

  it.each(['{}', '{"room":null}', '3', 'null', '{"x":{"room":1}}'])(
    'misses the field in %s',
    async (line) => {
      expect((await publishAll(line, { partitionKey: 'room' })).result).toMatchObject({
        code: 'INPUT_INVALID',
      })
    },
  )

  it('refuses a line beyond the limit', async () => {
    const { result } = await publishAll(`"${'x'.repeat(maxLineBytes)}"`)
    expect(result).toMatchObject({ code: 'INPUT_INVALID', message: expect.stringContaining('longer than') })
  })
})
