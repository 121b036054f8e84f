// What a release changes in the files of the repository; pure.

const parts = ['major', 'minor', 'patch']

/** The version after this one: `major`, `minor` or `patch`, or the version itself, which must be a later one. */
export function nextVersion(current, wanted) {
  const numbers = numbersOf(current)
  const place = parts.indexOf(wanted)
  if (place >= 0) return numbers.map((n, i) => (i < place ? n : i === place ? n + 1 : 0)).join('.')
  const next = numbersOf(wanted)
  const differing = next.findIndex((n, i) => n !== numbers[i])
  if (differing < 0 || next[differing] < numbers[differing])
    throw new Error(`${wanted} is not after ${current}`)
  return wanted
}

function numbersOf(version) {
  const match = /^(\d+)\.(\d+)\.(\d+)$/.exec(version)
  if (!match) throw new Error(`${version} is no version, as 1.2.3`)
  return match.slice(1).map(Number)
}

const kinds = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']

/** The manifest of a package of that version, which needs all others of the repository in exactly that version. */
export function withVersion(manifest, version) {
  const changed = { ...manifest, version }
  for (const kind of kinds) {
    if (manifest[kind] === undefined) continue
    const entries = Object.entries(manifest[kind])
    changed[kind] = Object.fromEntries(
      entries.map(([name, range]) => [name, name.startsWith('@runnel/') ? version : range]),
    )
  }
  return changed
}

/** The lock file with the packages of the repository in that version; what others wrote stays as it is. */
export function lockWithVersion(lock, version) {
  const packages = Object.entries(lock.packages).map(([path, entry]) => {
    const isOurs = entry.version !== undefined && !path.includes('node_modules/')
    return [path, isOurs ? withVersion(entry, version) : entry]
  })
  return { ...lock, version, packages: Object.fromEntries(packages) }
}

/** The lock file as if the packages of the repository had nothing for their development. */
export function lockWithoutDev(lock) {
  const packages = Object.entries(lock.packages).map(([path, entry]) => {
    if (path.includes('node_modules/')) return [path, entry]
    const { devDependencies, ...rest } = entry
    return [path, rest]
  })
  return { ...lock, packages: Object.fromEntries(packages) }
}

/** The changelog with what was unreleased under its version, an ISO date beside it. Throws when there is nothing. */
export function releasedChangelog(text, version, date) {
  const heading = '\n## Unreleased\n'
  const start = text.indexOf(heading)
  if (start < 0) throw new Error('CHANGELOG.md has no heading "## Unreleased"')
  const [before, rest] = [text.slice(0, start + heading.length), text.slice(start + heading.length)]
  if (!rest.split(/^## /m)[0].trim()) throw new Error('CHANGELOG.md has nothing under "## Unreleased"')
  return `${before}\n## ${version} - ${date}\n${rest}`
}
