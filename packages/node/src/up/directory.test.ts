import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { claimDirectory } from './directory.ts'

const newPath = () => join(mkdtempSync(join(tmpdir(), 'runnel-up-')), 'up')

describe('claimDirectory', () => {
  it('is for one process at a time', () => {
    const path = newPath()
    const directory = claimDirectory(path)
    expect(() => claimDirectory(path)).toThrow(expect.objectContaining({ code: 'UP_ALREADY_RUNNING' }))
    directory.release()
    claimDirectory(path).release()
    expect(existsSync(join(path, 'up.pid'))).toBe(false)
  })

  it.each(['999999999', 'nonsense', ''])('takes over from a process that is gone (%s)', (pid) => {
    const path = newPath()
    claimDirectory(path).release()
    writeFileSync(join(path, 'up.pid'), pid)
    expect(() => claimDirectory(path).release()).not.toThrow()
  })

  it('takes over where another process has the number of the one that is gone', () => {
    const path = newPath()
    claimDirectory(path)
    const held = readFileSync(join(path, 'up.pid'), 'utf8')
    expect(held).toMatch(new RegExp(`^${process.pid} \\S`))
    expect(() => claimDirectory(path)).toThrow(expect.objectContaining({ code: 'UP_ALREADY_RUNNING' }))
    writeFileSync(join(path, 'up.pid'), `${process.pid} earlier\n`)
    claimDirectory(path).release()
  })

  it('keeps keys, for their owner alone', async () => {
    const directory = claimDirectory(newPath())
    const key = await directory.key('owner')
    expect(statSync(key.file).mode & 0o777).toBe(0o600)
    expect(await directory.key('owner')).toEqual(key)
    expect((await directory.key('user')).nodeId).not.toBe(key.nodeId)
    directory.release()
  })
})
