import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { z } from 'zod'
import { isNetworkUrl } from '../cli/network-source.ts'
import { didYouMean } from '../cli/nearest.ts'
import { nodeError } from '../errors.ts'
import { brokerConfigSchema, type BrokerConfig } from './schema.ts'
import { keysAt, settings, type Setting } from './settings.ts'

/** Read when no file is named and it exists. */
export const defaultConfigFile = 'runnel.json'

/** Where a configuration comes from. A later source of this list wins: file, environment, flags. */
export interface ConfigSources {
  /** A configuration file. Undefined: `runnel.json` in `directory`, if there is one. */
  readonly file?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** Parsed command line flags by their name (`http-port`). Undefined values count as not given. */
  readonly flags: Readonly<Record<string, unknown>>
  /** Relative paths on the command line and in the environment are relative to this. */
  readonly directory: string
  /** Called for what the file says and a variable that other commands use too hides. */
  onHidden?(text: string): void
}

type Tree = { [key: string]: unknown }

/** Variables of the environment that begin with RUNNEL_ but are no setting of the broker. */
const otherVariables = ['RUNNEL_PRIVATE_KEY']
/** All that say how a broker runs. */
const variables = new Set([...settings.map((setting) => setting.env), ...otherVariables])

/** The environment of a process whose configuration is all in a file: without the variables that would go before it. */
export function withoutSettings(env: ConfigSources['env']): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !variables.has(name)))
}

/** Settings whose variables are there for other commands, too: whoever has them in a shell may not think of the file. */
const sharedSettings = ['network', 'as', 'readingKey', 'key']
/** Settings that name files; in a configuration file they are relative to it. */
const fileSettings: readonly (readonly string[])[] = [
  ['network'],
  ['as'],
  ['readingKey'],
  ['key'],
  ['websocket', 'certFile'],
  ['websocket', 'keyFile'],
  ['storage', 'directory'],
  ['storage', 'cassandra', 'passwordFile'],
  ['gateway', 'keysFile'],
  ['httpGateway', 'certFile'],
  ['httpGateway', 'keyFile'],
  ['mqtt', 'certFile'],
  ['mqtt', 'keyFile'],
  ['mqtt', 'directory'],
  ['control', 'socket'],
  ['control', 'tokenFile'],
]

/** Merges the sources, checks the result and fills in defaults. Throws CONFIG_NOT_FOUND, FILE_UNREADABLE or CONFIG_INVALID. */
export function loadConfig(sources: ConfigSources): BrokerConfig {
  const file = readConfigFile(sources)
  const tree: Tree = file.tree
  resolvePaths(tree, file.directory)
  const over: Tree = {}
  for (const setting of settings) {
    const fromEnv = sources.env[setting.env]
    if (fromEnv !== undefined && fromEnv !== '') assign(over, setting.path, parseText(setting, fromEnv))
    const fromFlag = sources.flags[setting.flag]
    if (fromFlag !== undefined) {
      const isText = setting.type === 'json' && typeof fromFlag === 'string'
      assign(over, setting.path, isText ? parseText(setting, fromFlag) : fromFlag)
    }
  }
  refuseMistypedVariables(sources.env)
  resolvePaths(over, sources.directory)
  tellHidden(tree, over, sources)
  return parseConfig(merge(tree, over))
}

/** Checks a configuration and fills in defaults. Throws CONFIG_INVALID, naming the setting. */
export function parseConfig(tree: unknown): BrokerConfig {
  const result = brokerConfigSchema.safeParse(tree)
  if (!result.success) throw nodeError('CONFIG_INVALID', result.error.issues.map(describeIssue).join('; '))
  return result.data
}

function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .map((key) => `unknown key ${[...issue.path, key].join('.')}${didYouMean(key, keysAt(issue.path))}`)
      .join('; ')
  }
  const where = issue.path.length > 0 ? issue.path.join('.') : 'the whole'
  return `${where}: ${issue.message.replace(/^Invalid input: /, '')}`
}

function readConfigFile({ file, directory }: ConfigSources): { tree: Tree; directory: string } {
  const path = resolve(directory, file ?? defaultConfigFile)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    if (file === undefined && isMissing(cause)) return { tree: {}, directory }
    throw nodeError(isMissing(cause) ? 'CONFIG_NOT_FOUND' : 'FILE_UNREADABLE', path, { cause })
  }
  return { tree: parseObject(text, path), directory: dirname(path) }
}

function parseObject(text: string, path: string): Tree {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw nodeError('CONFIG_INVALID', `${path} is not JSON (${(cause as Error).message})`, { cause })
  }
  if (!isTree(value)) throw nodeError('CONFIG_INVALID', `${path} does not hold a JSON object`)
  return value
}

function tellHidden(tree: Tree, over: Tree, { env, flags, onHidden }: ConfigSources): void {
  for (const key of sharedSettings) {
    const setting = settings.find(({ path }) => path.join('.') === key)
    const isHidden =
      setting && env[setting.env] && flags[setting.flag] === undefined && tree[key] !== undefined
    if (isHidden && tree[key] !== over[key])
      onHidden?.(
        `${setting.env} (${String(over[key])}) goes before ${key} of the configuration file (${String(tree[key])}); --${setting.flag} goes before both`,
      )
  }
}

/** Others may have RUNNEL_ variables of their own; one that nearly is a setting is taken for a mistake. */
function refuseMistypedVariables(env: ConfigSources['env']): void {
  for (const name of Object.keys(env)) {
    if (!name.startsWith('RUNNEL_') || variables.has(name)) continue
    const hint = didYouMean(name, variables)
    if (hint) throw nodeError('CONFIG_INVALID', `unknown environment variable ${name}${hint}`)
  }
}

/** Text that is not a number, boolean or JSON is left unchanged, for the schema to refuse. */
function parseText(setting: Setting, text: string): unknown {
  if (setting.type === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
  if (setting.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (setting.type === 'json') return parseJson(text)
  return setting.type === 'list' ? text.split(',').filter((part) => part !== '') : text
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function resolvePaths(tree: Tree, directory: string): void {
  for (const path of fileSettings) {
    const value = path.reduce<unknown>((node, key) => (isTree(node) ? node[key] : undefined), tree)
    if (typeof value === 'string' && value !== '' && !isNetworkUrl(value))
      assign(tree, path, resolve(directory, value))
  }
}

function assign(tree: Tree, path: readonly string[], value: unknown): void {
  const [key = '', ...rest] = path
  if (rest.length === 0) {
    tree[key] = value
    return
  }
  const child = tree[key]
  const node: Tree = isTree(child) ? child : {}
  tree[key] = node
  assign(node, rest, value)
}

function merge(under: Tree, over: Tree): Tree {
  const result: Tree = { ...under }
  for (const [key, value] of Object.entries(over)) {
    const existing = result[key]
    result[key] = isTree(existing) && isTree(value) ? merge(existing, value) : value
  }
  return result
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
