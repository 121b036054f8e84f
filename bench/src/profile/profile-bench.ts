import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { benchError } from '../errors.ts'
import { summaryOfCpu, summaryOfHeap, type CpuProfile, type HeapProfile } from './profile-summary.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))

/** With which a benchmark ends that refuses its options. */
export const refusedCode = 64

export interface ProfileOptions {
  /** A benchmark with its options, as on the command line. */
  readonly words: readonly string[]
  /** In which a folder is made for the profiles. Chromium's developer tools open them. */
  readonly directory: string
}

/**
 * Runs a benchmark with V8's sampling profilers of time and memory in all its processes, and sums up what they wrote. A process that is killed
 * writes nothing. Undefined where the benchmark refuses its options, which it has told. Rejects with CHILD_FAILED where it fails.
 */
export async function profileBench({ words, directory }: ProfileOptions) {
  const parent = resolve(directory)
  mkdirSync(parent, { recursive: true })
  const out = mkdtempSync(join(parent, `${words[0] ?? ''}-`))
  const profilers = ['cpu', 'heap'].flatMap((kind) => [`--${kind}-prof`, `--${kind}-prof-dir=${out}`])
  const NODE_OPTIONS = [process.env['NODE_OPTIONS'] ?? '', ...profilers].join(' ').trim()
  const bench = spawn(process.execPath, ['--conditions=runnel-src', main, ...words, '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS },
  })
  const end = (): void => {
    bench.kill('SIGTERM')
    process.stderr.write(`profiles of a part: ${out}\n`)
  }
  process.once('exit', end)
  const [report, [code]] = await Promise.all([text(bench.stdout), once(bench, 'close')])
  process.off('exit', end)
  if (code === refusedCode) return rmSync(out, { recursive: true })
  if (code !== 0)
    throw benchError(
      'CHILD_FAILED',
      `${words.join(' ')}: exit code ${String(code)}; profiles of a part: ${out}`,
    )
  const cpu = readAll<CpuProfile>(out, '.cpuprofile')
  const heap = readAll<HeapProfile>(out, '.heapprofile')
  return {
    bench: 'profile',
    of: JSON.parse(report) as unknown,
    directory: out,
    threads: cpu.length,
    cpuMs: summaryOfCpu(cpu),
    heapMiB: summaryOfHeap(heap),
  }
}

function readAll<T>(directory: string, suffix: string): T[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith(suffix))
    .map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')) as T)
}
