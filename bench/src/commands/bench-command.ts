import type { CommandModule, InferredOptionTypes, Options } from 'yargs'
import { beginPhase, currentPhase } from '../phase.ts'
import { within } from '../settling.ts'
import { checkCounts } from './counts.ts'

const transports = ['webrtc', 'websocket', 'mixed'] as const

/** How messages travel, and whether they are checked. */
export const link = {
  transport: { choices: transports, default: 'webrtc' as const, describe: 'what the links are' },
  verify: {
    choices: ['on', 'off'] as const,
    default: 'on' as const,
    describe: 'check signatures at every hop',
  },
}

interface About<O> {
  readonly about: string
  readonly options: O
  /** Seconds after which it fails, unless `--limit` says otherwise. */
  readonly limitS: number
}

/** Of a benchmark. Named by its command. */
type Run<O extends Record<string, Options>> = (
  args: InferredOptionTypes<O> & { readonly limitS: number },
  tell: (text: string) => void,
) => object | Promise<object>

/** A benchmark as a command: it says by when it ends, ends by then, naming what it was at, and prints its report. Rejects with INVALID_ARGUMENT and TOO_SLOW. */
export function benchCommand<O extends Record<string, Options>>(
  name: string,
  { about, options, limitS }: About<O>,
  run: Run<O>,
): CommandModule {
  const common = {
    json: { type: 'boolean' as const, default: false, describe: 'one line of JSON' },
    limit: { type: 'number' as const, default: limitS, describe: 'seconds after which it fails' },
  }
  return {
    command: name,
    describe: about,
    builder: { ...common, ...options },
    async handler(args) {
      const { json, limit } = args as unknown as InferredOptionTypes<typeof common>
      checkCounts(options, args)
      const say = (text: string) => void process.stderr.write(`${text}\n`)
      const tell = (text: string): void => {
        beginPhase(text)
        say(text)
      }
      const doing = (): string => (currentPhase() === '' ? name : `${name} (${currentPhase()})`)
      say(`ends within ${limit} s`)
      const given = { ...(args as InferredOptionTypes<O>), limitS: limit }
      const report = await within(1_000 * limit, doing, Promise.resolve(run(given, tell)))
      process.stdout.write(`${JSON.stringify(report, null, json ? 0 : 2)}\n`)
    },
  }
}
