import { afterEach, describe, expect, it, vi } from 'vitest'
import { LayoutClient } from './layout-client.ts'

/** A worker whose script may be missing. */
class FakeWorker extends EventTarget {
  static newest: FakeWorker | undefined

  constructor() {
    super()
    FakeWorker.newest = this
  }
}

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('the layout', () => {
  it('tells when its worker cannot be loaded or breaks', () => {
    vi.stubGlobal('Worker', FakeWorker)
    vi.stubGlobal('document', { querySelector: () => null })
    const onFailure = vi.fn()
    const client = new LayoutClient(() => {}, onFailure)
    expect([client instanceof LayoutClient, onFailure.mock.calls.length]).toEqual([true, 0])
    FakeWorker.newest?.dispatchEvent(new Event('error'))
    expect(onFailure).toHaveBeenCalledOnce()
  })
})
