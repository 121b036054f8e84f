import type { Browser } from 'playwright-core'
import { expect, it, vi } from 'vitest'
import { Browsers } from './browsers.ts'

it('closes a Chromium that is still being launched', async () => {
  const launching = Promise.withResolvers<Browser>()
  const close = vi.fn(() => Promise.resolve())
  const browsers = new Browsers(() => launching.promise)
  const launched = browsers.launch({})
  const closed = browsers.close()
  launching.resolve({ close } as Partial<Browser> as Browser)
  await launched
  await closed
  expect(close).toHaveBeenCalledOnce()
})

it('launches none once they have been closed, and closes what did not start', async () => {
  const launch = vi.fn(() => Promise.reject(new Error('no such file')))
  const browsers = new Browsers(launch)
  await expect(browsers.launch({})).rejects.toMatchObject({ code: 'PROCESS_FAILED' })
  await browsers.close()
  await expect(browsers.launch({})).rejects.toMatchObject({ code: 'PROCESS_FAILED' })
  expect(launch).toHaveBeenCalledOnce()
})

it('gives up one that does not start within half a minute', async () => {
  const launch = vi.fn(() => Promise.resolve<Partial<Browser>>({}) as Promise<Browser>)
  await new Browsers(launch).launch({ headless: true })
  expect(launch).toHaveBeenCalledWith(expect.objectContaining({ headless: true, timeout: 30_000 }))
})
