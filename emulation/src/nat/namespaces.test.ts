import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { statFieldsOf } from '../../../packages/node/src/up/process-stat.ts'
import { lacksRoot } from '../underlay/privileges.testkit.ts'
import { Namespaces, removeStaleNamespaces } from './namespaces.ts'

/** Resolves when a process that is no child of this one has ended, whether or not anybody has asked how. */
function untilEnded(pid: string): Promise<unknown> {
  const state = (): string | undefined => {
    try {
      return statFieldsOf(Number(pid))[0]
    } catch {
      return undefined
    }
  }
  return vi.waitUntil(() => [undefined, 'Z', 'X'].includes(state()), { timeout: 60_000 })
}

function namespacesForTest(): Namespaces {
  const namespaces = new Namespaces()
  onTestFinished(() => namespaces.remove())
  return namespaces
}

describe.skipIf(lacksRoot)('namespaces of a run', () => {
  it('have no name in common with those of another run of this process', () => {
    const [one, other] = [namespacesForTest(), namespacesForTest()]
    expect(one.add('internet')).not.toBe(other.add('internet'))
  })

  it('end what has been started and is not in its namespace yet', async () => {
    const namespaces = namespacesForTest()
    const child = namespaces.spawn(namespaces.add('host'), 'sleep', ['600'], 'ignore')
    // It has just begun, and does not come so far.
    child.kill('SIGSTOP')
    const ended = once(child, 'exit')
    await namespaces.remove()
    expect(await ended).toEqual([null, 'SIGKILL'])
  })

  it('are removed though what was started has started another that holds its streams open', async () => {
    const namespaces = namespacesForTest()
    const name = namespaces.add('host')
    const script = 'sleep 600 & echo $!; wait'
    const { stdout } = namespaces.spawn(name, 'sh', ['-c', script], ['ignore', 'pipe', 'inherit'])
    if (stdout === null) throw new Error('it has standard output')
    const [pid] = (await once(createInterface({ input: stdout }), 'line')) as [string]
    await namespaces.remove()
    await untilEnded(pid)
  })

  it('end with this process, however that ends', async () => {
    const code = `
      const { Namespaces } = await import(${JSON.stringify(new URL('namespaces.ts', import.meta.url))})
      const namespaces = new Namespaces()
      const { pid } = namespaces.spawn(namespaces.add('host'), 'sleep', ['600'], ['ignore', 'ignore', 'inherit'])
      console.log(pid)`
    const args = ['--conditions=runnel-src', '--input-type=module', '--eval', code]
    const run = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void run.kill('SIGKILL'))
    const [pid] = (await once(createInterface({ input: run.stdout }), 'line')) as [string]
    run.kill('SIGKILL')
    await once(run, 'exit')
    await untilEnded(pid)
    removeStaleNamespaces()
  })
})
