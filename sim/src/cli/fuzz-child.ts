import { serveParent } from '../processes/in-children.ts'
import { runSeeds } from '../scenarios/fuzz/worlds.ts'

serveParent(runSeeds)
