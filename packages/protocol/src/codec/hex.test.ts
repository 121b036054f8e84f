import { describe, expect, it } from 'vitest'
import { toHex } from './hex.ts'

describe('toHex', () => {
  it('writes two lower-case digits a byte', () => {
    expect(toHex(Uint8Array.of(0, 1, 10, 255))).toBe('0x00010aff')
    expect(toHex(new Uint8Array(0))).toBe('0x')
  })
})
