import { readFileSync } from 'node:fs'

/** What a container of an image starts with. */
export interface ImageConfig {
  readonly env: Readonly<Record<string, string>>
  readonly user: string
  readonly workingDirectory: string
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly healthcheck: readonly string[]
}

export interface Stage {
  readonly name: string
  /** What makes its files, in order. */
  readonly steps: readonly Step[]
  readonly config: ImageConfig
}

export type Step =
  | { readonly kind: 'run'; readonly command: string; readonly directory: string }
  | { readonly kind: 'context'; readonly to: string }
  | { readonly kind: 'copy'; readonly stage: string; readonly from: string; readonly to: string }

/** Reads a Dockerfile of the few instructions that ours has; throws on any other. */
export function readDockerfile(file: string): Stage[] {
  const text = readFileSync(file, 'utf8').replace(/^#.*\n/gm, '')
  const stages: Stage[] = []
  for (const line of text.replace(/\\\n/g, '').split('\n')) {
    if (line.trim() === '') continue
    const [, name = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    if (name === 'FROM') stages.push(newStage(/ AS (\w+)/.exec(rest)?.[1] ?? ''))
    else stages.push(withInstruction(stages.pop() ?? newStage(''), name, rest))
  }
  return stages
}

const newStage = (name: string): Stage => ({
  name,
  steps: [],
  config: { env: {}, user: '0', workingDirectory: '/', entrypoint: [], command: [], healthcheck: [] },
})

function withInstruction(stage: Stage, name: string, rest: string): Stage {
  const { steps, config } = stage
  const step = (added: Step): Stage => ({ ...stage, steps: [...steps, added] })
  const set = (changed: Partial<ImageConfig>): Stage => ({ ...stage, config: { ...config, ...changed } })
  switch (name) {
    case 'RUN':
      if (config.user !== '0') throw new Error('RUN after USER is not known here')
      return step({ kind: 'run', command: rest, directory: config.workingDirectory })
    case 'COPY': {
      if (rest === '. .') return step({ kind: 'context', to: config.workingDirectory })
      const [, from = '', source = '', to = ''] = /^--from=(\w+) (\S+) (\S+)$/.exec(rest) ?? []
      if (to === '') throw new Error(`COPY ${rest} is not known here`)
      return step({ kind: 'copy', stage: from, from: source, to })
    }
    case 'ENV': {
      const [, key = '', value = ''] = /^(\w+)=(\S+)$/.exec(rest) ?? []
      return set({ env: { ...config.env, [key]: value } })
    }
    case 'USER':
      return set({ user: rest })
    case 'WORKDIR':
      return set({ workingDirectory: rest })
    case 'ENTRYPOINT':
      return set({ entrypoint: wordsOf(rest) })
    case 'CMD':
      return set({ command: wordsOf(rest) })
    case 'HEALTHCHECK':
      return set({ healthcheck: wordsOf(rest.slice(rest.indexOf('CMD ') + 4)) })
    case 'VOLUME':
    case 'EXPOSE':
      return stage
    default:
      throw new Error(`${name} is not known here`)
  }
}

const wordsOf = (text: string) => JSON.parse(text) as string[]
