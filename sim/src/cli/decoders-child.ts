import { serveParent } from '../processes/in-children.ts'
import { runDecoders } from '../scenarios/decoders/decoders-run.ts'

// Stack traces of refusals are not used, and collecting them takes longer than everything else.
Error.stackTraceLimit = 0
serveParent(runDecoders)
