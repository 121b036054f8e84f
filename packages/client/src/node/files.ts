import { renameSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Files } from '../registry/document/document-source.ts'

/** The file system. */
export const files: Files = {
  async read(path, maxBytes) {
    const file = await open(path)
    try {
      // It may grow while it is read.
      const { bytesRead, buffer } = await file.read(Buffer.alloc(maxBytes + 1), 0, maxBytes + 1, 0)
      if (bytesRead > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`)
      return buffer.toString('utf8', 0, bytesRead)
    } finally {
      await file.close()
    }
  },
  /** At once: whoever reads it meanwhile has the old one or the new one. */
  write(path, text) {
    const draft = `${path}.${process.pid}.new`
    writeFileSync(draft, text)
    renameSync(draft, path)
  },
}
