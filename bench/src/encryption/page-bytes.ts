import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { bundleForPages } from '../../../packages/browser/src/bundle.ts'

/** Bytes, compressed by gzip, that a page loads at first, and what it loads in addition when a stream is encrypted. */
export async function pageBytes() {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-page-'))
  try {
    const { outputs } = (await bundleForPages(directory)).modules
    /** The files that come with one: all that they import, but what is imported when it is used. */
    const withImports = (file: string, into = new Set<string>()): Set<string> => {
      if (into.has(file)) return into
      into.add(file)
      for (const { path, kind } of outputs[file]?.imports ?? [])
        if (kind === 'import-statement') withImports(path, into)
      return into
    }
    const bytesOf = (files: Iterable<string>) =>
      [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(directory, file))).length, 0)
    const first = withImports('runnel.js')
    const later = new Set<string>()
    for (const [file, { entryPoint = '' }] of Object.entries(outputs))
      if (/src\/encryption\/(?!hpke-native)[^/]*\.ts$/.test(entryPoint)) withImports(file, later)
    return {
      atFirst: bytesOf(first),
      forEncryption: bytesOf([...later].filter((file) => !first.has(file))),
    }
  } finally {
    rmSync(directory, { recursive: true })
  }
}
