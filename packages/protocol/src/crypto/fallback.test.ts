import { beforeEach, expect, it, vi } from 'vitest'

const missing = () => Promise.reject(new Error('cannot be loaded here'))

beforeEach(() => {
  vi.resetModules()
  vi.doUnmock('./native-backend.ts')
  vi.doUnmock('./wasm-backend.ts')
  vi.doUnmock('hash-wasm')
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

it('hashes in JavaScript where WebAssembly is refused', async () => {
  const { loadCrypto } = await import('./load-crypto.ts')
  const { keccak256 } = await loadCrypto()
  vi.resetModules()
  vi.doMock('hash-wasm', () => ({ createKeccak: missing }))
  const { loadCrypto: loadAnew } = await import('./load-crypto.ts')
  const inJavaScript = (await loadAnew()).keccak256
  expect(inJavaScript).not.toBe(keccak256)
  for (const parts of [
    [],
    [new Uint8Array(0)],
    [new Uint8Array(135)],
    [new Uint8Array(136), Uint8Array.of(1, 2)],
  ])
    expect(inJavaScript(...parts)).toEqual(Uint8Array.from(keccak256(...parts)))
})

it('fails rather than take another than the one asked for', async () => {
  vi.doMock('./native-backend.ts', () => ({ loadNativeBackend: missing }))
  const { loadCrypto } = await import('./load-crypto.ts')
  await expect(loadCrypto({ backend: 'native' })).rejects.toThrow('cannot be loaded here')
})
