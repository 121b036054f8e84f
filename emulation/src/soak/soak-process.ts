import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { RunnelProcess } from '../places/processes/runnel-process.ts'

const sampler = new URL('./sampler.ts', import.meta.url).href

export interface SoakProcessOptions {
  readonly name: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Default: the `runnel` command. */
  readonly program?: string
  readonly directory: string
  readonly sampleEveryMs: number
  onDeath(how: string): void
}

/** Where the samples of a process are. */
export function samplesFile(directory: string, name: string): string {
  return join(directory, `${name}.samples`)
}

/** A process that writes down what it holds. */
export function soakProcess(options: SoakProcessOptions): RunnelProcess {
  const { name, args, env = {}, program, directory, sampleEveryMs, onDeath } = options
  return new RunnelProcess({
    name,
    args,
    ...(program === undefined ? {} : { program }),
    logFile: join(directory, `${name}.log`),
    env: {
      ...env,
      NODE_OPTIONS: `--import=${sampler}`,
      RUNNEL_SOAK_SAMPLES: samplesFile(directory, name),
      RUNNEL_SOAK_EVERY_MS: `${sampleEveryMs}`,
    },
    onDeath: (how) => onDeath(`${name} ended: ${how}`),
  })
}

export const applicationProgram = fileURLToPath(new URL('./application.ts', import.meta.url))
