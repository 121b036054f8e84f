import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Imports a package that was installed into a directory, from there; `T` is what this program uses of it. */
export async function installed<T>(directory: string, name: string): Promise<T> {
  const { load } = (await import(pathToFileURL(join(directory, loaderName)).href)) as {
    load(name: string): Promise<T>
  }
  return load(name)
}

/** A module that is written beside the packages, as names are resolved from where the importing module lies. */
export const loaderName = 'load.mjs'
export const loader = 'export const load = (name) => import(name)\n'

export function installedVersion(directory: string, name: string): string {
  const text = readFileSync(join(directory, 'node_modules', name, 'package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
