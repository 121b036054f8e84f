import { Key } from 'interface-datastore'
import { describe, expect, it } from 'vitest'
import { BoundedDatastore } from './bounded-datastore.ts'

function storeOf(maxBytes: number) {
  let evicted = 0
  const store = new BoundedDatastore({ maxBytes }, { onEvict: () => evicted++ })
  return { store, evicted: () => evicted }
}

/** As another tracker has them written: any number of long names, with a date of six bytes. */
const providerKey = (n: number) => new Key(`/dht/provider/${String(n).padStart(58, 'B')}/${'x'.repeat(53)}`)
const date = new Uint8Array(6)

describe('a bounded store', () => {
  it('counts what small entries take beside their values, and drops the oldest', () => {
    const { store, evicted } = storeOf(100_000)
    for (let n = 0; n < 1_000; n++) store.put(providerKey(n), date)
    const kept = 1_000 - evicted()
    // Each takes some 400 bytes of memory.
    expect(kept).toBeGreaterThan(200)
    expect(kept).toBeLessThan(300)
    expect([0, 999 - kept, 1_000 - kept, 999].map((n) => store.has(providerKey(n)))).toEqual([
      ...[false, false],
      ...[true, true],
    ])
  })

  it('has room again for what was replaced or deleted', () => {
    const { store, evicted } = storeOf(1_000)
    for (let n = 0; n < 100; n++) store.put(providerKey(0), new Uint8Array(n))
    for (let n = 1; n < 100; n++) {
      store.put(providerKey(n), date)
      store.delete(providerKey(n))
      store.delete(providerKey(n))
    }
    expect([evicted(), store.get(providerKey(0)).length]).toEqual([0, 99])
  })
})
