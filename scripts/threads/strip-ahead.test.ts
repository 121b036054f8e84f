import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { entries } from './strip-ahead.setup.ts'

it.each(entries)('threads of tests strip no types: %s', async (entry) => {
  const code = `
    const { parentPort } = require('node:worker_threads')
    import(${JSON.stringify(entry)}).catch(() => {}).finally(() => {
      parentPort.postMessage(process.moduleLoadList.filter((name) => name.includes('amaro')))
      parentPort.close()
    })`
  const worker = new Worker(code, { eval: true, execArgv: ['--conditions=runnel-src'] })
  const messages: unknown[] = []
  worker.on('message', (message) => messages.push(message))
  await once(worker, 'exit')
  expect(messages.filter((message) => message !== 'ready')).toEqual([[]])
})
