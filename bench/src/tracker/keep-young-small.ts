import { keepYoungGenerationSmall } from '../../../packages/node/src/young-generation.ts'

// As `runnel tracker` does, before anything else is loaded.
keepYoungGenerationSmall()
