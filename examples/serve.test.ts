import { expect, it } from 'vitest'
import { serveExample } from './serve.ts'

it('serves a page, and outlasts who asks for an address that is none', async () => {
  const document = { version: 1 as const, trackers: [], streams: [] }
  const { url, stop } = await serveExample('publish-subscribe', { kind: 'static', document })
  expect((await fetch(`${url}/`)).status).toBe(404)
  const page = await fetch(`${url}?room=private`)
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  const worker = await fetch(`${url}page-verification-worker.js`)
  expect([worker.status, worker.headers.get('content-type')]).toEqual([200, 'text/javascript'])
  await stop()
})
