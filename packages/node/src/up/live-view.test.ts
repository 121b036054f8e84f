import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { outputTo } from '../cli/output.ts'
import { whileRead } from './live-view.ts'

it('is shown until somebody stops it, or nobody reads it any more', async () => {
  const [stop, stream] = [new AbortController(), new PassThrough()]
  const output = outputTo(stream)
  const [shown, stopped] = [whileRead(output, stop.signal), whileRead(output, AbortSignal.abort())]
  expect([shown.aborted, stopped.aborted]).toEqual([false, true])
  stream.emit('error', Object.assign(new Error('gone'), { code: 'EPIPE' }))
  await output.closed
  expect([shown.aborted, stop.signal.aborted]).toEqual([true, false])
})
