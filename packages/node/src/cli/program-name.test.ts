import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { programName, withProgram } from './program-name.ts'

const packageRoot = join(import.meta.dirname, '../..')
const bin = join(packageRoot, 'bin/runnel.js')

/** Links, as npm makes them. */
const links: Readonly<Record<string, string>> = {
  '/usr/local/bin/runnel': '/usr/local/lib/node_modules/@runnel/node/bin/runnel.js',
  '/linked/bin/runnel': '/repo/packages/node/bin/runnel.js',
  '/repo/node_modules/.bin/runnel': '/repo/packages/node/bin/runnel.js',
  '/app/node_modules/.bin/runnel': '/app/node_modules/@runnel/node/bin/runnel.js',
}
const named = (file: string, cwd: string, ...path: string[]) =>
  programName({ file, cwd, path, resolve: (link) => links[link] })

describe('programName', () => {
  const repository = '/repo/packages/node/bin/runnel.js'
  const globally = '/usr/local/lib/node_modules/@runnel/node/bin/runnel.js'
  const app = '/app/node_modules/@runnel/node/bin/runnel.js'
  const fetched = '/home/me/.npm/_npx/0a1b/node_modules/@runnel/node/bin/runnel.js'

  it.each([
    ['in the repository', repository, '/repo', 'npx runnel'],
    ['in a folder of the repository', repository, '/repo/docs', 'npx runnel'],
    ['of the repository, elsewhere', repository, '/repository', `node ${repository}`],
    ['installed globally', globally, '/repo', 'runnel'],
    ['in a project that has it', app, '/app/src', 'npx @runnel/node'],
    ['of a project, elsewhere', app, '/', `node ${app}`],
    ['fetched by npx', fetched, '/anywhere', 'npx @runnel/node'],
    [
      'of a repository that is not installed',
      '/other/packages/node/bin/runnel.js',
      '/other',
      'node /other/packages/node/bin/runnel.js',
    ],
    ['at a path that a shell would take apart', '/my app/bin/runnel.js', '/', `node '/my app/bin/runnel.js'`],
  ])('%s', (_, file, cwd, name) => {
    expect(named(file, cwd, '/repo/node_modules/.bin', '/app/node_modules/.bin', '/usr/local/bin')).toBe(name)
  })

  it('installed globally by the npm of Windows, which writes a script instead of a link', () => {
    const file = '/npm/node_modules/@runnel/node/bin/runnel.js'
    const resolve = (path: string) => (path === '/npm/runnel.cmd' ? path : undefined)
    expect(programName({ file, cwd: '/', path: ['/windows', '/npm'], resolve })).toBe('runnel')
  })

  it('of the repository, linked into the path', () => {
    expect(named(repository, '/', '/linked/bin')).toBe('runnel')
  })
})

describe('withProgram', () => {
  it.each([
    ['Make one with: runnel key new FILE.', 'Make one with: npx runnel key new FILE.'],
    [
      'runnel up writes one to .runnel/up; see runnel --help',
      'npx runnel up writes one to .runnel/up; see npx runnel --help',
    ],
    ['Use runnel reading-key show, or Runnel nodes', 'Use npx runnel reading-key show, or Runnel nodes'],
    [
      'Use runnel gateway key new, or runnel reader show',
      'Use npx runnel gateway key new, or npx runnel reader show',
    ],
    ['@runnel/node and runnel keys', '@runnel/node and runnel keys'],
  ])('%s', (text, named) => {
    expect(withProgram(text, 'npx runnel')).toBe(named)
    expect(withProgram(named, 'npx runnel')).toBe(named)
  })
})

describe('the command', () => {
  const elsewhere = realpathSync(mkdtempSync(join(tmpdir(), 'runnel-program-')))
  afterAll(() => rmSync(elsewhere, { recursive: true }))

  const run = async (file: string, args: readonly string[], options: { cwd: string; path?: string }) => {
    const env = { ...process.env, PATH: [options.path, process.env['PATH']].join(delimiter) }
    const { stdout } = await promisify(execFile)(file, args, { cwd: options.cwd, env })
    return stdout
  }

  it('has its own version, in any project', async () => {
    const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
      version: string
    }
    expect(await run(process.execPath, [bin, '--version'], { cwd: elsewhere })).toBe(`${version}\n`)
  })

  it('names itself in its help as it was started', async () => {
    const help = ['key', '--help']
    expect(await run(process.execPath, [bin, ...help], { cwd: packageRoot })).toContain('npx runnel key new')
    expect(await run(process.execPath, [bin, ...help], { cwd: elsewhere })).toContain(
      `node ${realpathSync(bin)} key`,
    )
    symlinkSync(bin, join(elsewhere, 'runnel'))
    expect(await run('runnel', help, { cwd: elsewhere, path: elsewhere })).toMatch(/^ +runnel key new/m)
  })
})
