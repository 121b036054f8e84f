#!/usr/bin/env node
import * as module from 'node:module'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { ensureNode } from './ensure-node.js'
import { programUrl } from './program.js'

if (ensureNode()) {
  // The next start takes half the time. Not in Node's default directory, that for temporary files: what is there runs, and another user may have put it there.
  try {
    module.enableCompileCache(process.env.NODE_COMPILE_CACHE ?? join(caches(), 'runnel', 'compiled'))
  } catch {
    // This user has no home: nothing is kept.
  }
  await import(programUrl().href)
}

/** XDG Base Directory Specification: relative paths are ignored. */
function caches() {
  const { XDG_CACHE_HOME = '' } = process.env
  return isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache')
}
