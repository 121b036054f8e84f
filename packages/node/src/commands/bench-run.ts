import type { BenchShape } from '../bench/run/request.ts'
import type { RunArguments } from '../bench/run/run-command.ts'

/** Runs a load from its options. What that takes is loaded with it: help and other commands should not wait for it. */
export async function runCommand(args: RunArguments, shape: BenchShape): Promise<void> {
  const run = await import('../bench/run/run-command.ts')
  await run.runCommand(args, shape)
}
