import { expect, it } from 'vitest'
import { readerBench } from './reader-bench.ts'

it('measures a durable reader beside a plain subscription', { timeout: 120_000 }, async () => {
  const report = await readerBench({ messages: 400, publishers: 2, limitS: 100 })
  expect(report).toMatchObject({ bench: 'reader', messages: 400, publishers: 2 })
  for (const figure of [report.reader.messagesPerS, report.baseline.messagesPerS, report.reader.cursorBytes])
    expect(figure).toBeGreaterThan(0)
  expect(report.takeover.ms).toBeGreaterThan(0)
})
