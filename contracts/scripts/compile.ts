/**
 * Compiles the registries and writes their ABI and bytecode to `src/generated/`, so that nothing else needs a compiler.
 * Offline: the compiler and OpenZeppelin are npm packages.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { InterfaceAbi } from '@runnel/contracts/ethers'
import { format, resolveConfig } from 'prettier'
import solc from 'solc'

const require = createRequire(import.meta.url)
const solidityUrl = new URL('../solidity/', import.meta.url)

/** Where the generated modules stand. */
export const generatedUrl = new URL('../src/generated/', import.meta.url)

const contractNames = [
  'TrackerRegistry',
  'PermissionedTrackerRegistry',
  'StreamRegistry',
  'StorageRegistry',
  'ContainedCall',
]

interface Diagnostic {
  readonly severity: 'error' | 'warning' | 'info'
  readonly formattedMessage: string
  readonly sourceLocation?: { readonly file: string }
}

interface CompilerOutput {
  readonly errors?: readonly Diagnostic[]
  readonly contracts: Record<string, Record<string, { abi: unknown; evm: { bytecode: { object: string } } }>>
}

/** The text of every generated module by file name. Throws on an error, and on a warning about our own source. */
export async function generateModules(): Promise<Map<string, string>> {
  const output = compile(contractNames.map((name) => `${name}.sol`))
  const prettierOptions = await resolveConfig(fileURLToPath(generatedUrl) + 'x.ts')
  const modules = new Map<string, string>()
  for (const name of contractNames) {
    const contract = output.contracts[`${name}.sol`]?.[name]
    if (!contract) throw new Error(`The compiler returned no ${name}`)
    const text = moduleText(name, contract.abi, contract.evm.bytecode.object)
    modules.set(`${fileNameOf(name)}.ts`, await format(text, { ...prettierOptions, parser: 'typescript' }))
  }
  return modules
}

/** The interface and creation code of a contract of a library or of `solidity/test/`, for tests: Runnel never deploys it. */
export function compileTestContract(path: string, name: string): { abi: InterfaceAbi; bytecode: string } {
  const contract = compile([path]).contracts[path]?.[name]
  if (!contract) throw new Error(`The compiler returned no ${name}`)
  return { abi: contract.abi as InterfaceAbi, bytecode: `0x${contract.evm.bytecode.object}` }
}

function compile(paths: readonly string[]): CompilerOutput {
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(paths.map((path) => [path, { content: readSource(path) }])),
    settings: {
      evmVersion: 'cancun',
      optimizer: { enabled: true, runs: 200 },
      // Without these the bytecode would change with every comment.
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  }
  const compile = solc.compile as (input: string, callbacks: object) => string
  const output = JSON.parse(
    compile(JSON.stringify(input), { import: (path: string) => ({ contents: readSource(path) }) }),
  ) as CompilerOutput
  const complaints =
    output.errors?.filter((it) => it.severity === 'error' || !isLibrary(it.sourceLocation?.file)) ?? []
  if (complaints.length > 0) throw new Error(complaints.map((it) => it.formattedMessage).join('\n'))
  return output
}

function isLibrary(path: string | undefined): boolean {
  return path?.startsWith('@') ?? false
}

function readSource(path: string): string {
  return readFileSync(isLibrary(path) ? require.resolve(path) : new URL(path, solidityUrl), 'utf8')
}

function moduleText(name: string, abi: unknown, bytecode: string): string {
  const withoutInternalTypes = (key: string, value: unknown) => (key === 'internalType' ? undefined : value)
  return `// Generated from solidity/${name}.sol by scripts/compile.ts: do not edit.

/** The interface of ${name}. */
export const abi = ${JSON.stringify(abi, withoutInternalTypes)} as const

/** The creation code of ${name}, without constructor arguments. */
export const bytecode = '0x${bytecode}'
`
}

function fileNameOf(contractName: string): string {
  return contractName.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()
}

async function writeModules(): Promise<void> {
  await mkdir(generatedUrl, { recursive: true })
  for (const [fileName, text] of await generateModules()) {
    const url = new URL(fileName, generatedUrl)
    const unchanged = (await readFile(url, 'utf8').catch(() => undefined)) === text
    if (!unchanged) await writeFile(url, text)
    console.log(`${unchanged ? 'unchanged' : 'written'}: src/generated/${fileName}`)
  }
}

if (import.meta.main) await writeModules()
