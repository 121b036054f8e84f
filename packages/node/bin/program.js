// Plain JavaScript that an old Node can run, too.
import { existsSync, readdirSync, statSync } from 'node:fs'

const here = (path) => new URL(path, import.meta.url)

/**
 * The program: what the repository's `npm start` bundled from the sources, unless the compiler has been at work since, as it is for who develops;
 * where there is no bundle, as in an installed package, what the compiler made.
 */
export function programUrl() {
  const [bundled, compiled] = [here('../dist/program/main.js'), here('../dist/main.js')]
  if (!existsSync(bundled)) return compiled
  const bundledMs = statSync(bundled).mtimeMs
  const packages = readdirSync(here('../..')).map((name) => here(`../../${name}/dist/.tsbuildinfo`))
  const isOlder = [here('../../../contracts/dist/.tsbuildinfo'), ...packages].some(
    (file) => existsSync(file) && statSync(file).mtimeMs > bundledMs,
  )
  return isOlder ? compiled : bundled
}
