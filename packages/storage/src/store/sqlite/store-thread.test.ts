import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { writerOperations } from './operations.ts'
import { StoreThread } from './store-thread.ts'

it('fails what waits for a thread that ends by itself, and starts another one for the next request', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-thread-'))
  const path = join(directory, 'messages.sqlite')
  const thread = new StoreThread<ReturnType<typeof writerOperations>>({ role: 'writer', path })
  await thread.call('setMark', { name: 'a', value: 'b' })
  const closed = thread.call('close', undefined)
  const waiting = thread.call('setMark', { name: 'a', value: 'c' })
  await closed
  await expect(waiting).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringContaining(path) as string,
  })
  await thread.call('setMark', { name: 'a', value: 'd' })
  await thread.stop()
  await thread.stop()
  rmSync(directory, { recursive: true })
})
