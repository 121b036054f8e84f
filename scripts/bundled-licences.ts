import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Metafile } from 'esbuild'

/** Markdown: the licence of every package of which bundles have code, once each. `root` is the folder that their inputs are seen from. */
export function bundledLicences(root: string, metafiles: readonly Metafile[]): string {
  const folders = metafiles
    .flatMap(({ outputs }) => Object.values(outputs))
    .flatMap(({ inputs }) => Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0))
    .flatMap(([input]) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? [])
    .map((folder) => resolve(root, folder))
  return [...new Set(folders.toSorted().map(licenceOf))].join('\n')
}

function licenceOf(folder: string): string {
  const manifest = readFileSync(join(folder, 'package.json'), 'utf8')
  const { name, version, license } = JSON.parse(manifest) as Record<string, unknown>
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
  if (file === undefined && typeof license !== 'string') throw new Error(`${String(name)} names no licence`)
  const text =
    file === undefined
      ? `${String(license)}, as its package.json says.`
      : readFileSync(join(folder, file), 'utf8').trim()
  return `## ${String(name)} ${String(version)}\n\n${text}\n`
}
