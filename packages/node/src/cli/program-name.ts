import { existsSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { shellWord } from './shell-word.ts'

/** What tells how the program was started. */
export interface ProgramPlace {
  /** The program, links resolved: `bin/runnel.js` of this package. */
  readonly file: string
  /** The folder it was started in. */
  readonly cwd: string
  /** The folders that a shell looks for programs in. */
  readonly path: readonly string[]
  /** The file with that name, links resolved; undefined where there is none. */
  readonly resolve: (path: string) => string | undefined
}

/**
 * What a person types to start this program again, from where it was started. Elsewhere `npx runnel` would fetch another
 * package of that name, so only the repository's own folders get that.
 */
export function programName({ file, cwd, path, resolve }: ProgramPlace): string {
  const [project = '', ...within] = file.split(`${sep}node_modules${sep}`)
  const isInstalled = within.length > 0
  if (isInstalled && project.split(sep).at(-2) === '_npx') return 'npx @runnel/node'
  // What npm puts before the path while it runs something is not there in another terminal.
  const lasting = path.filter((folder) => !folder.endsWith(join('node_modules', '.bin')))
  if (lasting.some((folder) => leadsTo(folder, file, resolve))) return 'runnel'
  const isIn = (folder: string) => cwd === folder || cwd.startsWith(folder + sep)
  if (isInstalled) return isIn(project) ? 'npx @runnel/node' : `node ${shellWord(file)}`
  const repository = join(dirname(file), '../../..')
  const isLinked = resolve(join(repository, 'node_modules/.bin/runnel')) === file
  if (isLinked && isIn(repository)) return 'npx runnel'
  return `node ${shellWord(file)}`
}

/** On Windows npm writes a script beside the `node_modules` that it installed into. */
function leadsTo(folder: string, file: string, resolve: ProgramPlace['resolve']): boolean {
  if (resolve(join(folder, 'runnel')) === file) return true
  return (
    file.startsWith(join(folder, 'node_modules') + sep) && resolve(join(folder, 'runnel.cmd')) !== undefined
  )
}

let known: string | undefined

/** How this program was started. */
export function thisProgram(): string {
  known ??= programName({
    file: realpathSync(fileURLToPath(new URL('../../bin/runnel.js', import.meta.url))),
    cwd: realpathSync(process.cwd()),
    path: (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== ''),
    resolve: (path) => (existsSync(path) ? realpathSync(path) : undefined),
  })
  return known
}

/** The first words of the commands. */
const commands =
  'up|publish|subscribe|last|request|respond|presence|reader|resend|stream|storage|node|gateway|doctor|tracker|key|reading-key|network|chain|registry|--help'
const command = new RegExp(`(?<!npx )\\brunnel (?=(?:${commands})(?![\\w-]))`, 'g')

/** A text that names commands as `runnel …`, with what a person types here. Twice is as once. */
export function withProgram(text: string, program = thisProgram()): string {
  return text.replace(command, () => `${program} `)
}
