import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { spawnTied } from './tied-process.ts'

/** A process that does what the code says and then prints its pid. */
function node(code: string) {
  return spawnTied([process.execPath, '-e', `${code}; console.log(process.pid)`])
}

describe('spawnTied', () => {
  it('interrupts the process and waits for its end', async () => {
    const child = node(
      `process.on('SIGINT', () => { console.log('interrupted'); process.exit(7) }); setInterval(() => {}, 1e6)`,
    )
    await once(child.stdout, 'data')
    let said = ''
    child.stdout.on('data', (bytes: Buffer) => (said += bytes.toString()))
    await Promise.all([child.stop(), child.stop()])
    expect(said).toBe('interrupted\n')
    expect(await child.ended).toBe('exit code 7')
  })

  it('tells how a process ended by itself, whose stop is then at once', async () => {
    const child = node('process.exitCode = 3')
    child.stdout.resume()
    child.stderr.resume()
    expect(await child.ended).toBe('exit code 3')
    await child.stop()
  })

  it('tells of a death by a signal', async () => {
    const child = node('setInterval(() => {}, 1e6)')
    child.stderr.resume()
    const [said] = (await once(child.stdout, 'data')) as [Buffer]
    expect(Number(said.toString())).toBe(child.pid)
    process.kill(Number(said.toString()), 'SIGKILL')
    expect(await child.ended).toBe('signal SIGKILL')
  })

  it('tells of a program that is not there', async () => {
    const child = spawnTied(['/nonexistent/program'])
    let complaint = ''
    child.stdout.resume()
    child.stderr.on('data', (bytes: Buffer) => (complaint += bytes.toString()))
    expect(await child.ended).toBe('exit code 127')
    expect(complaint).toContain('/nonexistent/program')
  })
})
