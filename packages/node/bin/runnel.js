#!/usr/bin/env node
import * as module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { ensureNode } from './ensure-node.js'
import { programUrl } from './program.js'

if (ensureNode()) {
  // The next start takes half the time. Not in Node's default directory, that for temporary files: what is there runs, and another user may have put it there.
  const { NODE_COMPILE_CACHE, XDG_CACHE_HOME } = process.env
  const caches = XDG_CACHE_HOME || join(homedir(), '.cache')
  module.enableCompileCache(NODE_COMPILE_CACHE ?? join(caches, 'runnel', 'compiled'))
  await import(programUrl().href)
}
