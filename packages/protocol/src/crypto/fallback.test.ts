import { beforeEach, expect, it, vi } from 'vitest'

const missing = () => Promise.reject(new Error('cannot be loaded here'))

beforeEach(() => {
  vi.resetModules()
  vi.doUnmock('./native-backend.ts')
  vi.doUnmock('./wasm-backend.ts')
})

it('takes WebAssembly where the addon does not load', async () => {
  vi.doMock('./native-backend.ts', () => ({ loadNativeBackend: missing }))
  const { loadCrypto } = await import('./load-crypto.ts')
  expect((await loadCrypto()).backend).toBe('wasm')
})

it('takes JavaScript where neither loads', async () => {
  vi.doMock('./native-backend.ts', () => ({ loadNativeBackend: missing }))
  vi.doMock('./wasm-backend.ts', () => ({ loadWasmBackend: missing }))
  const { loadCrypto } = await import('./load-crypto.ts')
  expect((await loadCrypto()).backend).toBe('js')
})

it('fails rather than take another than the one asked for', async () => {
  vi.doMock('./native-backend.ts', () => ({ loadNativeBackend: missing }))
  const { loadCrypto } = await import('./load-crypto.ts')
  await expect(loadCrypto({ backend: 'native' })).rejects.toThrow('cannot be loaded here')
})
