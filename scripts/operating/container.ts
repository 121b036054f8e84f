import { shellWord } from '../../packages/node/src/cli/shell-word.ts'

/** What a process finds around it, as an engine for containers makes it. Paths are of the machine and of the container. */
export interface Container {
  readonly mounts: readonly { readonly source: string; readonly target: string; readonly readOnly: boolean }[]
  readonly tmpfs: readonly string[]
  /** Folders of the machine that images do not have. */
  readonly hidden: readonly string[]
  readonly isReadOnly: boolean
  readonly user: string
  readonly dropsCapabilities: boolean
  readonly noNewPrivileges: boolean
  readonly workingDirectory: string
  readonly env: Readonly<Record<string, string>>
}

/** A script for bash in a mount namespace of its own: makes the container's root from this machine's, and becomes the command. */
export function containerScript(container: Container, command: readonly string[]): string {
  const { mounts, tmpfs, hidden, isReadOnly } = container
  return [
    'set -euo pipefail; root=$(mktemp -d); mount --bind / "$root"',
    'mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"',
    // Where there is nothing to mount on, the machine gets it, as the root may be one to read only.
    ...mounts.map(({ source, target }) =>
      [
        `if [ -d ${shellWord(source)} ]; then mkdir -p ${shellWord(target)}; else mkdir -p "$(dirname ${shellWord(target)})"; touch ${shellWord(target)}; fi`,
        `mount --bind ${shellWord(source)} "$root"${shellWord(target)}`,
      ].join('; '),
    ),
    ...mounts
      .filter(({ readOnly }) => readOnly)
      .map(({ target }) => `mount -o remount,bind,ro "$root"${shellWord(target)}`),
    // The hidden ones first: they may lie below one of the others.
    ...[...hidden, ...tmpfs].map((target) => `mount -t tmpfs tmpfs "$root"${shellWord(target)}`),
    ...(isReadOnly ? ['mount -o remount,bind,ro "$root"'] : []),
    `exec chroot "$root" ${processWords(container, command).map(shellWord).join(' ')}`,
  ].join('\n')
}

/** The command with the user, rights and environment of a container; to be run in its root. */
export function processWords(container: Container, command: readonly string[]): string[] {
  const { user, workingDirectory, env, dropsCapabilities, noNewPrivileges } = container
  return [
    ...[
      'env',
      '-i',
      '-C',
      workingDirectory,
      ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ],
    ...['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'],
    ...(dropsCapabilities ? ['--bounding-set=-all', '--inh-caps=-all'] : []),
    ...(noNewPrivileges ? ['--no-new-privs'] : []),
    ...['--', ...command],
  ]
}
