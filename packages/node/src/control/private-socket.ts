import { chmodSync, mkdtempSync, renameSync, rmSync, rmdirSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'

/**
 * Listens on a Unix socket that no other user can open at any moment: creates it in a private directory beside `path`, sets its
 * mode, and moves it to `path`, replacing the leftover of a killed process. The path of a socket is limited to about 100 bytes,
 * which must hold the directory and 10 more. The caller removes `path` at the end.
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
