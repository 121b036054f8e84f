import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { killedAfterItsLine } from '../places/processes/abandoned-script.testkit.ts'
import { untilEnded } from '../places/processes/until-ended.testkit.ts'
import { lacksRoot } from '../underlay/privileges.testkit.ts'
import { Namespaces } from './namespaces.ts'

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

  it('end with this process, however that ends, and the next run removes what is left', async () => {
    const code = `
      const { existsSync } = await import('node:fs')
      const { Namespaces } = await import(${JSON.stringify(new URL('namespaces.ts', import.meta.url))})
      const namespaces = new Namespaces()
      const name = namespaces.add('host')
      const { pid } = namespaces.spawn(name, 'sleep', ['600'], ['ignore', 'ignore', 'inherit'])
      console.log(pid + ' ' + name + ' ' + existsSync('/run/netns/' + name))`
    const [pid = '', name, existed] = (await killedAfterItsLine(code)).split(' ')
    await untilEnded(pid)
    // What it was while the process ran: from then on any other run may remove it.
    expect(existed).toBe('true')
    namespacesForTest().add('host')
    expect(existsSync(`/run/netns/${name}`)).toBe(false)
  })
})
