// What of a package.json is for others. Plain JavaScript that an old Node can run, too.

/**
 * The manifest as it is packed: without the condition by which this repository finds its sources, which are not in the
 * tarball, and without what only the repository uses. Fields of `publishConfig` take the place of those outside of it, as with pnpm.
 */
export function packedManifest({ devDependencies, publishConfig, ...own }, repository) {
  const manifest = { ...own, ...publishConfig }
  return {
    ...manifest,
    ...(repository === undefined ? {} : { repository }),
    exports: withoutSources(manifest.exports),
  }
}

/** Conditions without `runnel-src`; undefined where nothing is left. */
function withoutSources(conditions) {
  if (typeof conditions === 'string') return conditions
  const kept = Object.entries(conditions)
    .filter(([name]) => name !== 'runnel-src')
    .map(([name, inner]) => [name, withoutSources(inner)])
    .filter(([, inner]) => inner !== undefined)
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

/**
 * What npm knows as the URL of the repository with this git remote: of http, https and ssh only, and without a password.
 * Undefined for everything else, such as a path of this machine.
 */
export function repositoryUrl(remote) {
  const [, user, host, path] = /^(?:([\w.-]+)@)?([\w.-]+):(?!\/\/)(.+)$/.exec(remote) ?? []
  if (user !== undefined) return `git+ssh://${user}@${host}/${path.replace(/^\//, '')}`
  let url
  try {
    url = new URL(remote)
  } catch {
    return undefined
  }
  if (!['http:', 'https:', 'ssh:'].includes(url.protocol)) return undefined
  url.password = ''
  if (url.protocol !== 'ssh:') url.username = ''
  return `git+${url.href}`
}
