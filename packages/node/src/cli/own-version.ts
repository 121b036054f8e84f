import { readFileSync } from 'node:fs'

/** Of this package, wherever the program is called. */
export function ownVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { readonly version: string }).version
}
