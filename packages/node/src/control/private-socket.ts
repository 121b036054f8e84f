import { chmodSync, mkdtempSync, renameSync, rmSync, rmdirSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'

/**
 * Has something listen on a Unix socket that nobody but this user can open at any moment: it is made in a directory of our
 * own, beside `path`, and appears there with its mode set, in place of what a process that was killed has left. The path of
 * a socket is limited to about 100 bytes: that of its directory and 10 more have to fit as well. Whoever listens removes
 * `path` at the end.
 */
export async function listenPrivately(
  path: string,
  listen: (path: string) => Promise<unknown>,
): Promise<void> {
  // Made with mode 700, whatever the umask.
  const directory = mkdtempSync(`${dirname(path)}${sep}.`)
  const socket = join(directory, 's')
  try {
    await listen(socket)
    chmodSync(socket, 0o600)
    renameSync(socket, path)
  } finally {
    rmSync(socket, { force: true })
    rmdirSync(directory)
  }
}
