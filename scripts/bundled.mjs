// Whether the bundles of scripts/bundle.mjs are those of the sources as they are now. Plain JavaScript that an old Node can run, too.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
/** Where the program lies. As deep below its package as the sources: both find their neighbours by the same relative paths. */
export const programDirectory = 'packages/node/dist/program'
const program = join(root, programDirectory, 'main.js')
const stampFile = join(root, programDirectory, '.stamp')

/** Written when everything is built. Beside the bundles for pages, and in no package: its name begins with a dot. */
const builtFile = join(root, 'packages/browser/dist/.built')

/** True when nothing has changed since `npm run build`. */
export function isBuilt() {
  return isCurrent(builtFile)
}

export function writeBuilt() {
  writeFileSync(builtFile, stamp())
}

/** True when nothing has changed since the bundles were made. Then the program counts as new, whatever the compiler has written since. */
export function isBundled() {
  if (!isCurrent(stampFile)) return false
  touch(program)
  return true
}

/** Whether what was written then is still so. */
function isCurrent(file) {
  return existsSync(file) && readFileSync(file, 'utf8') === stamp()
}

/** Not where the folder is another user's, who has done it. */
function touch(file) {
  const now = new Date()
  try {
    utimesSync(file, now, now)
  } catch (error) {
    if (error.code !== 'EPERM' && error.code !== 'EACCES' && error.code !== 'EROFS') throw error
  }
}

export function writeStamp() {
  writeFileSync(stampFile, stamp())
}

/** What makes bundles and compiles: beside the sources. */
const makers = [
  'package-lock.json',
  'tsconfig.base.json',
  'packages/node/scripts/bundle-program.ts',
  'scripts/bundled-licences.ts',
  'scripts/threads/entries.mjs',
  'contracts/scripts/bundle-ethers.ts',
]

/** Changes with every file that goes into the bundles: their sizes and times stand for what is in them, as in a Makefile. */
function stamp() {
  const packages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`)
  const files = ['contracts', ...packages].flatMap((folder) => [
    `${folder}/package.json`,
    ...sources(`${folder}/src`),
  ])
  const hash = createHash('sha256')
  for (const file of [...makers, ...files]) {
    const { mtimeMs, size } = statSync(join(root, file))
    hash.update(`${file} ${mtimeMs} ${size}\n`)
  }
  return hash.digest('hex')
}

function sources(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return sources(path)
    return /\.(test|testkit)\.tsx?$/.test(entry.name) ? [] : [path]
  })
}
