#!/usr/bin/env node
import * as module from 'node:module'
import { ensureNode } from './ensure-node.js'
import { programUrl } from './program.js'

if (ensureNode()) {
  // The compiled code is kept in the system's directory for temporary files: the next start takes half the time.
  module.enableCompileCache()
  await import(programUrl().href)
}
