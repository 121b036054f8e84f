import { chmodSync, mkdtempSync, renameSync, rmSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Has something listen on a Unix socket that nobody but this user can open at any moment: it is made in a directory of our
 * own, and appears at `path` with its mode set, in place of what a process that was killed has left there. The path of the
 * socket is limited to about 100 bytes, and this needs up to 12 more for a moment. Whoever listens removes `path` at the end.
 */
export async function listenPrivately(
  path: string,
  listen: (path: string) => Promise<unknown>,
): Promise<void> {
  // Made with mode 700, whatever the umask.
  const directory = mkdtempSync(join(dirname(path), '.'))
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
