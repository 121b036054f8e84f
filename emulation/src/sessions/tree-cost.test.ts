import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { treeCost } from './tree-cost.ts'

it('counts the processes that a process started, and what those started', async () => {
  const before = treeCost(process.pid)
  const child = spawn('sh', ['-c', 'exec 3<&0; sh -c "echo up; read end" <&3 & wait'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  await once(child.stdout, 'data')
  const after = treeCost(process.pid)
  expect(after.processes).toBe(before.processes + 2)
  expect(after.memoryBytes).toBeGreaterThan(before.memoryBytes)
  expect(treeCost(child.pid ?? 0).processes).toBe(1)
  const ended = once(child, 'close')
  child.kill()
  child.stdin.end()
  await ended
})
