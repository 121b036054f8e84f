#!/usr/bin/env node
import { ensureNode } from './ensure-node.js'

if (ensureNode()) await import('../dist/main.js')
