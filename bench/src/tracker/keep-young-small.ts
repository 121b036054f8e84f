import { setFlagsFromString } from 'node:v8'

// As `runnel tracker` does, before anything else is loaded.
setFlagsFromString('--semi-space-growth-factor=1')
