// Writes docs/limits.md from the limits in the code:  node --conditions=runnel-src scripts/limits-page.ts
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import ts from 'typescript'
import { limits as wireLimits } from '@runnel/protocol'
import { parseConfig } from '../packages/client/src/config.ts'

interface Limit {
  readonly name: string
  readonly value: number
  readonly meaning: string
}

/** The limits declared in one place: the object or interface `owner`, or single constants of a file. */
interface Group {
  readonly path: string
  readonly owner: string | undefined
  readonly limits: readonly Limit[]
}

type Members = ReadonlyMap<string, ts.TypeElement>

const root = fileURLToPath(new URL('..', import.meta.url))
const folders = ['packages/protocol', 'packages/transport', 'packages/network', 'packages/tracker']
folders.push(
  'packages/client',
  'packages/media',
  'packages/explorer',
  'packages/storage',
  'packages/node',
  'contracts',
)

const isTable = (name: string) => /^limits$|(Limits|Defaults)$/.test(name)
const isSingle = (name: string) =>
  /^(max|min|largest)[A-Z]|(Ms|TtlS|MarkBytes)$|^(slots|spareConnections|startsAtOnce|keptLines|pageSize)$/.test(
    name,
  )

/** The page as it must stand in docs/limits.md. Throws when a limit has no doc comment. */
export async function limitsPage(): Promise<string> {
  const sections: string[] = []
  for (const folder of folders) {
    const groups = await groupsOf(folder)
    const { name } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as { name: string }
    sections.push(`## ${name}`, ...groups.map(tableOf))
  }
  return [
    '# Limits',
    'Whatever a peer, a publisher or a tracker can make grow is bounded, and whatever is waited for has an end. Units are in the names. This page is made from the code (`node --conditions=runnel-src scripts/limits-page.ts`); a test compares the two. What is above a limit of the wire is refused with `LIMIT_EXCEEDED` before memory is taken for it. Those of the wire are part of the protocol and the same everywhere; where there is an option of the same name, the value is its default.',
    '## Who pays',
    'A limit that many share is shared out by who causes the cost, by one mechanism: [`packages/protocol/src/shares/shares.ts`](../packages/protocol/src/shares/shares.ts). While there is room everybody takes what they want. When the table is full the cause that holds most gives way, with its newest where what is established should stay, with its oldest in a cache; so each of n causes can have one nth. The causes: a network of addresses (/24, or /48 of IPv6) for connections, half-open handshakes and links, and at trackers for sockets, nodes, stream parts and waiting statuses; the neighbour that brought it for batches held and publishers looked up; the publisher for missing ranges, message chains and repairs of a storage node; the owner of the stream for what a storage node keeps, in stream parts and in bytes.',
    ...sections,
    '',
  ].join('\n\n')
}

function tableOf({ path, owner, limits }: Group): string {
  const cell = (text: string) => text.replaceAll('|', '\\|')
  const rows = limits.map(
    ({ name, value, meaning }) => `| \`${name}\` | ${value.toLocaleString('en')} | ${cell(meaning)} |`,
  )
  const source = `[\`${path}\`](../${path})`
  const title = owner === undefined ? source : `\`${owner}\` in ${source}`
  return [`${title}:`, '', '| limit | value | meaning |', '| --- | --- | --- |', ...rows].join('\n')
}

async function groupsOf(folder: string): Promise<Group[]> {
  const paths = globSync(`${folder}/src/**/*.ts`, { cwd: root })
    .filter((path) => !/\.(test|testkit|suite|d)\.ts$|\/generated\//.test(path))
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
  const sources = paths.map((path) => ({ path, source: parse(path) }))
  const interfaces = interfacesOf(sources.map(({ source }) => source))
  const tables: Group[] = []
  const singles: Group[] = []
  for (const { path, source } of sources) {
    const fixed: Limit[] = []
    for (const { declaration, statement } of constantsOf(source)) {
      const name = declaration.name.getText()
      if (isTable(name)) tables.push(await tableGroup(path, declaration, interfaces))
      else if (isSingle(name) && !isObject(declaration.initializer))
        fixed.push(await singleLimit(path, declaration, docOf(statement)))
    }
    if (fixed.length > 0) singles.push({ path, owner: undefined, limits: fixed })
  }
  if (interfaces.has('ClientConfig')) tables.unshift(clientGroup(interfaces))
  return [...tables.filter(({ limits }) => limits.length > 0), ...singles]
}

function parse(path: string): ts.SourceFile {
  return ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest, true)
}

function constantsOf(source: ts.SourceFile) {
  return source.statements
    .filter(ts.isVariableStatement)
    .flatMap((statement) =>
      statement.declarationList.declarations.map((declaration) => ({ declaration, statement })),
    )
}

/** Members by interface, those it extends included. */
function interfacesOf(sources: readonly ts.SourceFile[]): ReadonlyMap<string, Members> {
  const declared = new Map<string, ts.InterfaceDeclaration>()
  for (const statement of sources.flatMap(({ statements }) => [...statements])) {
    if (ts.isInterfaceDeclaration(statement)) declared.set(statement.name.text, statement)
  }
  const membersOf = (name: string): [string, ts.TypeElement][] => {
    const declaration = declared.get(name)
    const bases = declaration?.heritageClauses?.flatMap(({ types }) => types.map(innerName)) ?? []
    const own = declaration?.members.map((member) => [member.name?.getText() ?? '', member] as const) ?? []
    return [
      ...bases.flatMap(membersOf),
      ...own.map(([key, member]): [string, ts.TypeElement] => [key, member]),
    ]
  }
  return new Map([...declared.keys()].map((name) => [name, new Map(membersOf(name))]))
}

/** `Limits` of `Limits`, `Partial<Limits>` and `Required<Limits>`. */
function innerName(type: ts.Node): string {
  return /^(?:(?:Partial|Required)<)?(\w+)/.exec(type.getText())?.[1] ?? ''
}

/** The numbers of an object; what they mean stands beside them, or in the interface that the object has. */
async function tableGroup(
  path: string,
  declaration: ts.VariableDeclaration,
  interfaces: ReadonlyMap<string, Members>,
): Promise<Group> {
  const owner = declaration.name.getText()
  const { initializer } = declaration
  const object = bare(initializer)
  if (object === undefined || !ts.isObjectLiteralExpression(object)) return { path, owner, limits: [] }
  const type = initializer && ts.isSatisfiesExpression(initializer) ? initializer.type : declaration.type
  const members = type && interfaces.get(innerName(type))
  const values = (await exported(path, owner)) as Readonly<Record<string, unknown>> | undefined
  const limits = object.properties.flatMap((property) => {
    const name = property.name?.getText() ?? ''
    const value = values?.[name]
    if (typeof value !== 'number') return []
    return [limit(path, name, value, docOf(property) || docOf(members?.get(name)))]
  })
  return { path, owner, limits }
}

/** An expression without `as const` and `satisfies`. */
function bare(node: ts.Expression | undefined): ts.Expression | undefined {
  const wrapped = node !== undefined && (ts.isSatisfiesExpression(node) || ts.isAsExpression(node))
  return wrapped ? bare(node.expression) : node
}

function isObject(node: ts.Expression | undefined): boolean {
  const object = bare(node)
  return object !== undefined && ts.isObjectLiteralExpression(object)
}

async function singleLimit(path: string, declaration: ts.VariableDeclaration, doc: string): Promise<Limit> {
  const name = declaration.name.getText()
  const value = (await exported(path, name)) ?? literal(declaration.initializer)
  if (typeof value !== 'number') throw new Error(`${path}: the value of ${name} is not known`)
  return limit(path, name, value, doc)
}

/** The settings of `createClient` that are numbers, with the defaults its schema fills in. */
function clientGroup(interfaces: ReadonlyMap<string, Members>): Group {
  const path = 'packages/client/src/config.ts'
  const document = { version: 1, trackers: [], streams: [] }
  const defaults = parseConfig({ network: { kind: 'static', document } })
  const limits = [...(interfaces.get('ClientConfig') ?? [])].flatMap(([name, member]) => {
    const value = (defaults as Readonly<Record<string, unknown>>)[name]
    if (typeof value === 'number') return [limit(path, name, value, docOf(member))]
    if (name === 'network' || typeof value !== 'object' || value === null) return []
    const inner = nestedMembers(member, interfaces)
    return Object.entries(value).flatMap(([key, number]) =>
      typeof number === 'number'
        ? [limit(path, `${name}.${key}`, number, `${docOf(member)} ${docOf(inner.get(key))}`.trim())]
        : [],
    )
  })
  return { path, owner: 'ClientConfig', limits }
}

function nestedMembers(member: ts.TypeElement, interfaces: ReadonlyMap<string, Members>): Members {
  const type = ts.isPropertySignature(member) ? member.type : undefined
  const first = type && ts.isUnionTypeNode(type) ? type.types[0] : type
  if (first === undefined) return new Map()
  if (!ts.isTypeLiteralNode(first))
    return interfaces.get(innerName(first)) ?? new Map<string, ts.TypeElement>()
  return new Map(first.members.map((inner) => [inner.name?.getText() ?? '', inner]))
}

function limit(path: string, name: string, value: number, meaning: string): Limit {
  if (meaning === '') throw new Error(`${path}: ${name} has no doc comment`)
  return { name, value, meaning }
}

/** The doc comment on one line, without the default, which has a column of its own. */
function docOf(node: ts.Node | undefined): string {
  const [last] = node === undefined ? [] : ts.getJSDocCommentsAndTags(node).slice(-1)
  const text = last && ts.isJSDoc(last) ? (ts.getTextOfJSDocComment(last.comment) ?? '') : ''
  return text
    .replace(/\s+/g, ' ')
    .replace(/ ?Default [^.]*\.$/, '')
    .trim()
}

async function exported(path: string, name: string): Promise<unknown> {
  const module = (await import(pathToFileURL(join(root, path)).href)) as Readonly<Record<string, unknown>>
  return module[name]
}

/** The value of a constant that its module keeps to itself: a number, a limit of the wire, a product. */
function literal(node: ts.Expression | undefined): number | undefined {
  if (node === undefined) return undefined
  if (ts.isNumericLiteral(node)) return Number(node.text)
  if (ts.isPropertyAccessExpression(node) && node.expression.getText() === 'limits') {
    return (wireLimits as Readonly<Record<string, number>>)[node.name.text]
  }
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.AsteriskToken)
    return undefined
  const [left, right] = [literal(node.left), literal(node.right)]
  return left === undefined || right === undefined ? undefined : left * right
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(fileURLToPath(new URL('../docs/limits.md', import.meta.url)), await limitsPage())
}
