import { PassThrough } from 'node:stream'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { outputTo } from './output.ts'

describe('an output', () => {
  it.each([
    ['EPIPE', undefined, []],
    ['ENOSPC', 69, [expect.stringMatching(/^runnel: There is no space left .*ENOSPC \(DISK_FULL\)\. .*\n$/)]],
  ])('ends at %s, with exit code %s', async (code, exitCode, lines) => {
    const said: string[] = []
    const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0)
    const exitCodeBefore = process.exitCode
    onTestFinished(() => {
      stderr.mockRestore()
      process.exitCode = exitCodeBefore
    })
    const stream = new PassThrough()
    const output = outputTo(stream)
    stream.emit('error', Object.assign(new Error(code), { code }))
    await output.closed
    expect(await output.write('x')).toBe(false)
    expect(said).toEqual(lines)
    expect(process.exitCode).toBe(exitCode ?? exitCodeBefore)
  })
})
