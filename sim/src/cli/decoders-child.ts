import { serveParent } from '../processes/in-children.ts'
import { runDecoders } from '../scenarios/decoders/decoders-run.ts'

// Nobody reads where a refusal comes from, and to find out takes longer than all else.
Error.stackTraceLimit = 0
serveParent(runDecoders)
