/** Writes `docs/decisions/README.md`: the decisions with their titles. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const folder = new URL('../docs/decisions/', import.meta.url)

/** The page as the files beside it have it. */
export function decisionsPage(): string {
  const files = readdirSync(folder).filter((name) => /^\d{3}-.*\.md$/.test(name))
  const rows = files.sort().map((name) => {
    const title = /^# \d{3}: (.*)$/m.exec(readFileSync(new URL(name, folder), 'utf8'))?.[1] ?? name
    return `- ${name.slice(0, 3)} [${title}](${name})`
  })
  return [
    '# Decisions',
    '',
    'Choices that others might have made differently, each with its reasons. A missing number was a draft that was dropped or went into another decision, as 011 did into 042.',
    '',
    ...rows,
    '',
  ].join('\n')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(new URL('README.md', folder), decisionsPage())
}
