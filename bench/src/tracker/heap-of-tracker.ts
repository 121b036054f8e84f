import { keepOldGenerationTight, keepYoungGenerationSmall } from '../../../packages/node/src/heap-growth.ts'

// As `runnel tracker` does, before anything else is loaded.
keepYoungGenerationSmall()
keepOldGenerationTight()
