import { describe, expect, it } from 'vitest'
import { toNodeId } from '../ids/node-id.ts'
import { digestCheck } from './digest-check.ts'

const signature = Uint8Array.from({ length: 65 }, (_, i) => i)
const idThatEndsWith = (digit: string) => toNodeId(`0x${'0'.repeat(39)}${digit}`)

describe('the check of a digest', () => {
  it('is of the signature at the end, elsewhere for each last digit of the one who is told', () => {
    const batch = Uint8Array.from([9, 9, 9, ...signature])
    expect(digestCheck(batch, idThatEndsWith('0'))).toBe(0x00010203)
    expect(digestCheck(batch, idThatEndsWith('1'))).toBe(0x04050607)
    expect(digestCheck(batch, idThatEndsWith('f'))).toBe(0x3c3d3e3f)
  })
  it('has 32 bits without a sign', () => {
    expect(digestCheck(new Uint8Array(65).fill(255), idThatEndsWith('3'))).toBe(0xffffffff)
  })
})
