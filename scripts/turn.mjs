// One process after another installs and builds in a folder: a second `npm start` in a fresh clone would remove what the first has just installed.
// Plain JavaScript that an old Node can run, too.
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'

const lookEveryMs = 200

/**
 * Waits until this process alone has the lock file, and gives what ends that; the end of the process does, too. `onWait` is called with the number
 * of the process that has it, each time that it is looked for. Where the folder is another user's, nothing can be changed in it, and nobody waits.
 */
export async function takeTurn(file, onWait) {
  const release = () => rmSync(file, { force: true })
  try {
    mkdirSync(dirname(file), { recursive: true })
    for (let holder = take(file); holder !== undefined; holder = take(file)) {
      onWait(holder)
      await setTimeout(lookEveryMs)
    }
  } catch (error) {
    if (error.code !== 'EPERM' && error.code !== 'EACCES' && error.code !== 'EROFS') throw error
    return () => {}
  }
  process.on('exit', release)
  return () => {
    process.off('exit', release)
    release()
  }
}

/** Takes the file, or gives the number of the process that has it. */
function take(file) {
  const own = `${file}.${process.pid}`
  // Linked, it is there with its content at once.
  writeFileSync(own, `${process.pid}`)
  try {
    linkSync(own, file)
    return undefined
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  } finally {
    rmSync(own)
  }
  const holder = holderIn(file)
  if (holder === undefined || isRunning(holder)) return holder ?? take(file)
  // Left behind by a process that was killed.
  rmSync(file, { force: true })
  return take(file)
}

/** Undefined where it has just been given up. */
function holderIn(file) {
  try {
    return Number(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    return undefined
  }
}

/** A process that was killed in a container may have had the number of this one. */
function isRunning(pid) {
  if (pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // It is another user's.
    return error.code === 'EPERM'
  }
}
