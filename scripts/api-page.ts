// Writes docs/api/client.md from the declarations that the compiler makes:  node --conditions=runnel-src scripts/api-page.ts
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import ts from 'typescript'

const dist = fileURLToPath(new URL('../packages/client/dist/', import.meta.url))
const page = fileURLToPath(new URL('../docs/api/client.md', import.meta.url))

/** What is exported for the other packages of this repository, and says little to applications. */
const internal =
  /^(ClientModules|CreateNode|NodeModules|RegistryService|RegistryChange|Logger|clientErrors?|ClientErrorCode|RequestModules|AccountsOnChain|keysOnly|createdToleranceMs|oldestOfStreamMs|predates|isTrackerUrl|shownUrl|typeInside|StoredPart|PhaseName)$/

interface Entry {
  readonly name: string
  readonly kind: 'function' | 'class' | 'type'
  readonly doc: string
  readonly code: string
}

/** The page, as it must stand in docs/api/client.md. Needs a build. */
export function apiPage(): string {
  const program = ts.createProgram([`${dist}index.d.ts`], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: [],
  })
  const checker = program.getTypeChecker()
  const index = program.getSourceFile(`${dist}index.d.ts`)
  const module = index && checker.getSymbolAtLocation(index)
  if (!module) throw new Error('build first: packages/client/dist/index.d.ts is not there')
  const core = program.getSourceFile(`${dist}config.d.ts`)
  const coreModule = core && checker.getSymbolAtLocation(core)
  // What `ClientConfig` and `NetworkSource` of Node extend.
  const coreTypes = new Map(
    (coreModule ? checker.getExportsOfModule(coreModule) : []).map((symbol) => [symbol.name, symbol]),
  )
  const symbols = checker.getExportsOfModule(module).filter(({ name }) => !internal.test(name))
  const entries = symbols
    .map((symbol) =>
      entryOf(symbol.name, [
        symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
        ...(['ClientConfig', 'NetworkSource'].includes(symbol.name) ? [coreTypes.get(symbol.name)] : []),
      ]),
    )
    .filter((entry) => entry !== undefined)
    .sort((left, right) => (left.name.toLowerCase() < right.name.toLowerCase() ? -1 : 1))
  const section = (title: string, kind: Entry['kind']) => [
    `## ${title}`,
    ...entries.filter((entry) => entry.kind === kind).map(textOf),
  ]
  return [
    '# API of `@runnel/client`',
    'Every name an application imports from `@runnel/client`, made from the docstrings in the code (`node --conditions=runnel-src scripts/api-page.ts`); a test compares the two. [Guides](../guides/first-stream.md) and the [SDK](../sdk.md) show how they go together; codes that errors have are in [errors](../errors.md), bounds in [limits](../limits.md).',
    ...section('Functions', 'function'),
    ...section('Classes', 'class'),
    ...section('Types', 'type'),
    '',
  ].join('\n\n')
}

function textOf({ name, doc, code }: Entry): string {
  return [`### \`${name}\``, ...(doc === '' ? [] : [doc]), `\`\`\`ts\n${code}\n\`\`\``].join('\n\n')
}

function entryOf(name: string, symbols: readonly (ts.Symbol | undefined)[]): Entry | undefined {
  const declarations = symbols.flatMap((symbol) => (symbol?.declarations ?? []).map(statementOf))
  const [first] = declarations
  if (first === undefined) return undefined
  const isFunction = ts.isFunctionDeclaration(first) || ts.isVariableStatement(first)
  const kind = ts.isClassDeclaration(first) ? 'class' : isFunction ? 'function' : 'type'
  const code = declarations
    .map((declaration) => plainCode(declaration.getText()))
    .map((text) => text.replace(/^type NetworkSource = (?!Core)/, 'type CoreSource = '))
    .filter((text) => !/^type ClientConfig = Core/.test(text))
    .join('\n')
  return { name, kind, doc: docOf(first), code }
}

/** With `export` and everything before it. */
function statementOf(declaration: ts.Declaration): ts.Node {
  return ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
}

/** The docstring, its lines joined as they were broken for the width of the code only. */
function docOf(node: ts.Node): string {
  const [comment] = ts.getJSDocCommentsAndTags(node)
  const text = comment === undefined ? '' : (ts.getTextOfJSDocComment(comment.comment) ?? '')
  return text.replace(/\n(?!\n|- )/g, ' ').replace(/\n+ ?/g, '\n\n')
}

/** Without what only the compiler needs, and what an application cannot use. */
function plainCode(text: string): string {
  return text
    .replace(/^export (declare )?/gm, '')
    .replace(/^ +(#private|private [^\n]*|constructor\([^\n]*);\n/gm, '')
    .replace(/^( +)(readonly |static |get |set )*\[[^\n]*\n/gm, '')
    .replace(/ {4}/g, '  ')
    .replace(/;$/gm, '')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  mkdirSync(dirname(page), { recursive: true })
  writeFileSync(page, apiPage())
}
