import { expect, it, onTestFinished, vi } from 'vitest'
import { standardOutput } from './output.ts'
import { runProgram } from './run-program.ts'

it('does not end because nobody reads what it prints', async () => {
  const { stdout, stderr } = process
  const written = vi.spyOn(console, 'log').mockReturnValue()
  onTestFinished(() => written.mockRestore())
  await runProgram(['gateway', '--help'])
  expect(written).toHaveBeenCalled()
  for (const stream of [stdout, stderr])
    stream.emit('error', Object.assign(new Error('gone'), { code: 'EPIPE' }))
  await standardOutput().closed
  expect(await standardOutput().write('lost')).toBe(false)
})
