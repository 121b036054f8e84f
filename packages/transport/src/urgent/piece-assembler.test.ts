import { describe, expect, it } from 'vitest'
import { urgentLimits } from './limits.ts'
import { PieceAssembler } from './piece-assembler.ts'

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)

function make(limits: Partial<typeof urgentLimits> = {}) {
  const counts = { truncated: 0 }
  const truncated = (): void => void counts.truncated++
  const assembler = new PieceAssembler({ ...urgentLimits, ...limits }, { truncated })
  const push = (object: number, index: number, count: number, nowMs = 0, remainingMs = 100) =>
    assembler.push({ type: 'piece', object, index, count, remainingMs, bytes: bytes(object, index) }, nowMs)
  return { assembler, counts, push }
}

describe('PieceAssembler', () => {
  it('puts pieces together in any order, and those of several objects', () => {
    const { assembler, push } = make()
    expect(push(1, 2, 3)).toBeUndefined()
    expect(push(2, 0, 2)).toBeUndefined()
    expect(push(1, 0, 3)).toBeUndefined()
    expect(push(1, 1, 3)?.batchBytes).toEqual(bytes(1, 0, 1, 1, 1, 2))
    expect(push(2, 1, 2)?.batchBytes).toEqual(bytes(2, 0, 2, 1))
    expect([assembler.bytes, assembler.dueMs]).toEqual([0, Infinity])
  })

  it('counts the time of what comes late against the whole', () => {
    const { push } = make()
    push(1, 0, 3, 0, 100)
    push(1, 1, 3, 10, 60)
    expect(push(1, 2, 3, 30, 90)?.remainingMs).toBe(40)
  })

  it('takes no piece of what was whole', () => {
    const { assembler, counts, push } = make()
    push(1, 0, 2)
    expect(push(1, 1, 2)).toBeDefined()
    expect(push(1, 1, 2)).toBeUndefined()
    assembler.forgetLate(1_000)
    expect([counts.truncated, assembler.bytes]).toEqual([0, 0])
  })

  it('drops an object that is not complete in time', () => {
    const { assembler, counts, push } = make()
    push(1, 0, 2)
    push(2, 0, 2, 0, 200)
    expect(assembler.dueMs).toBe(100)
    assembler.forgetLate(100)
    expect([counts.truncated, assembler.bytes]).toEqual([1, 2])
    expect(push(1, 1, 2, 100)).toBeUndefined()
  })

  it('ignores what comes twice, and drops what contradicts itself', () => {
    const { assembler, counts, push } = make()
    push(1, 0, 2)
    expect(push(1, 0, 2)).toBeUndefined()
    expect(assembler.bytes).toBe(2)
    expect(push(1, 1, 3)).toBeUndefined()
    expect([counts.truncated, assembler.bytes]).toEqual([1, 0])
  })

  it('holds only so much, and drops the oldest object for it', () => {
    const { assembler, counts, push } = make({ maxPiecesBytes: 6 })
    for (let object = 0; object < 10; object++) push(object, 0, 2)
    expect([counts.truncated, assembler.bytes]).toEqual([7, 6])
    expect(push(9, 1, 2)?.batchBytes).toEqual(bytes(9, 0, 9, 1))
  })

  it('holds only so many objects, however small their pieces are', () => {
    const { assembler, counts, push } = make({ maxIncompleteObjects: 3 })
    for (let object = 0; object < 10; object++) push(object, 0, 64)
    expect([counts.truncated, assembler.bytes]).toEqual([7, 6])
  })
})
