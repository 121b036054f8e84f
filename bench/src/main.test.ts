import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const main = fileURLToPath(new URL('main.ts', import.meta.url))
const temporary = mkdtempSync(join(tmpdir(), 'runnel-bench-test-'))
/** Processes of an interrupted benchmark may still be writing there for a moment. */
const interrupted = mkdtempSync(join(tmpdir(), 'runnel-bench-test-'))
afterAll(() => {
  for (const folder of [temporary, interrupted]) rmSync(folder, { recursive: true })
})

/** What it said, its exit code, and what it left of temporary files. */
async function run(command: string, interruptedAt?: string, flags: readonly string[] = []) {
  const args = ['--conditions=runnel-src', ...flags, main, ...command.split(' ')]
  const env = { ...process.env, TMPDIR: temporary, NODE_DISABLE_COMPILE_CACHE: '1' }
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'], env })
  const ended = once(child, 'close')
  let said = ''
  for await (const line of createInterface({ input: child.stderr })) {
    said += `${line}\n`
    if (line === interruptedAt) child.kill('SIGINT')
  }
  const [code] = await ended
  return { said, code: code as unknown, left: readdirSync(temporary) }
}

/** Names the benchmarks that are loaded. */
const watching = `import { registerHooks } from 'node:module'
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context)
    const [bench] = /[^/]+-bench\\.ts$/.exec(resolved.url) ?? []
    if (bench !== undefined || specifier === 'playwright-core') console.error('loads', bench ?? specifier)
    return resolved
  },
})`

describe('the command line', { timeout: 120_000 }, () => {
  it.each([
    ['cores --rounds 0', '--rounds is a whole number'],
    ['idle --transport tcp', '--transport is not "tcp", but one of '],
    ['peers --only nothing', '--only names one of runnel-'],
    ['peers --only runnel --write', '--write is for all systems'],
    ['relay --messages', '--messages needs a value'],
    ['relay --verify on --verify off', '--verify is given more than once'],
    ['encryption --messages 1000', 'a multiple of 16384'],
    ['idle --seconds 280', '--settle and --seconds take 310 s, --limit 300'],
  ])('refuses %s in two lines', async (command, why) => {
    const { said, code } = await run(command)
    const [refusal, remedy, end] = said.replace(/^ends within \d+ s\n/, '').split('\n')
    expect(refusal).toMatch(/^INVALID_ARGUMENT: /)
    expect(refusal).toContain(why)
    expect([remedy?.includes('--help'), end, code]).toEqual([true, '', 64])
  })

  it('loads no other benchmark than the one it runs', async () => {
    const flags = [`--import=data:text/javascript,${encodeURIComponent(watching)}`]
    const { said } = await run('topology --nodes 200', undefined, flags)
    expect(said).toBe('ends within 120 s\nloads topology-bench.ts\n')
  })

  it('says in two lines that a benchmark that it profiles failed', async () => {
    const { said, code } = await run(
      `profile --out ${join(temporary, 'profiles')} topology --nodes 1000000 --limit 1`,
    )
    const at = join(temporary, 'profiles', 'topology-')
    expect(said).toMatch(
      /TOO_SLOW: .*\n.*\nCHILD_FAILED: .*--limit 1: exit code 1; profiles of a part: .*\n.*\n$/,
    )
    expect(said).toContain(at)
    expect(code).toBe(1)
    rmSync(join(temporary, 'profiles'), { recursive: true })
  })

  it('leaves it to a benchmark that it profiles to refuse options', async () => {
    const profiles = join(temporary, 'profiles')
    const { said, code } = await run(`profile --out ${profiles} relay --bogus`)
    expect(said).toMatch(/^INVALID_ARGUMENT: .*\n.*\n$/)
    expect([code, readdirSync(profiles)]).toEqual([64, []])
    rmSync(profiles, { recursive: true })
  })

  it('says where the profiles of a part are when it is interrupted', async () => {
    const { said, code } = await run(`profile --out ${interrupted} idle --parts 1`, 'joining 1 stream parts')
    expect(said).toContain('INTERRUPTED')
    expect(said).toContain(`profiles of a part: ${join(interrupted, 'idle-')}`)
    expect(code).toBe(1)
  })

  it('leaves nothing when it took too long', async () => {
    const { said, code, left } = await run('program --runs 1000 --limit 5')
    expect(said).toContain('TOO_SLOW')
    expect([code, left]).toEqual([1, []])
  })

  it('leaves nothing when it is interrupted', async () => {
    const { said, code, left } = await run('idle --parts 1', 'joining 1 stream parts')
    expect(said).toContain('INTERRUPTED')
    expect([code, left]).toEqual([1, []])
  })
})
