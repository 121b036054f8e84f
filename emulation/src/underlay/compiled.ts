import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { underlayError } from './errors.ts'

const folder = fileURLToPath(new URL('../../link-emulator/', import.meta.url))
const programs = { 'link-emulator': 'src', probe: 'probe' } as const
const flags = ['-std=c11', '-D_DEFAULT_SOURCE', '-O2', '-Wall', '-Wextra', '-Werror']
const libraries = ['-lm', '-lpthread']

/** The path of a program, compiled from its sources unless that has been done. Throws COMPILATION_FAILED. */
export async function compiled(name: keyof typeof programs): Promise<string> {
  const all = globSync('{src,probe}/*.{c,h}', { cwd: folder }).sort()
  const hash = createHash('sha256').update(JSON.stringify([flags, libraries]))
  for (const path of all) hash.update(`${path}\n`).update(readFileSync(join(folder, path)))
  const target = join(folder, 'dist', hash.digest('hex').slice(0, 16), name)
  if (existsSync(target)) return target
  mkdirSync(join(target, '..'), { recursive: true })
  // Others may compile the same thing now: the one that is last replaces a file that is no different.
  const unfinished = `${target}.${process.pid}`
  const sources = all.filter((path) => path.startsWith(`${programs[name]}/`) && path.endsWith('.c'))
  try {
    await promisify(execFile)('cc', [...flags, '-o', unfinished, ...sources, ...libraries], { cwd: folder })
  } catch (cause) {
    throw underlayError('COMPILATION_FAILED', cause instanceof Error ? cause.message : undefined, { cause })
  }
  renameSync(unfinished, target)
  return target
}
