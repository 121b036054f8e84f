import { z } from 'zod'
import { brokerConfigSchema } from './schema.ts'

/** One setting: a leaf of the configuration, with its names in every place it can be given. */
export interface Setting {
  /** Keys from the root, such as `['http', 'port']`. */
  readonly path: readonly string[]
  /** `RUNNEL_HTTP_PORT` */
  readonly env: string
  /** `http-port` */
  readonly flag: string
  /** `json`: an object, which the environment and flags give as JSON. */
  readonly type: 'string' | 'number' | 'boolean' | 'list' | 'json'
  readonly choices: readonly string[] | undefined
  readonly defaultValue: unknown
  readonly description: string
}

interface SchemaNode {
  readonly type?: string
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly enum?: readonly string[]
  readonly default?: unknown
  readonly description?: string
  /** Where the flag is not the name of the setting. */
  readonly flag?: string
}

const root = z.toJSONSchema(brokerConfigSchema, { io: 'input' }) as SchemaNode

/** Every setting, in the order of the schema. */
export const settings: readonly Setting[] = leavesOf(root, [])

/** The keys allowed at a path of the configuration. */
export function keysAt(path: readonly PropertyKey[]): string[] {
  let node: SchemaNode | undefined = root
  for (const key of path) node = node?.properties?.[String(key)]
  return Object.keys(node?.properties ?? {})
}

function leavesOf(node: SchemaNode, path: readonly string[]): Setting[] {
  return Object.entries(node.properties ?? {}).flatMap(([key, child]) => {
    const childPath = [...path, key]
    return child.properties ? leavesOf(child, childPath) : [settingOf(child, childPath)]
  })
}

function settingOf(node: SchemaNode, path: readonly string[]): Setting {
  const words = path.flatMap((key) => key.split(/(?=[A-Z])/)).map((word) => word.toLowerCase())
  return {
    path,
    env: `RUNNEL_${words.join('_').toUpperCase()}`,
    flag: node.flag ?? words.join('-'),
    type: typeOf(node.type),
    choices: node.enum,
    defaultValue: node.default,
    description: node.description ?? '',
  }
}

function typeOf(type: string | undefined): Setting['type'] {
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'boolean') return 'boolean'
  if (type === 'object') return 'json'
  return type === 'array' ? 'list' : 'string'
}
