import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { ContractsError } from './errors.ts'

/** Where a program runs, named as Node does, and how a module's file is found from there. */
export interface Host {
  readonly platform: string
  readonly arch: string
  /** The file of a module; throws when it is not installed. */
  readonly resolve: (id: string) => string
}

const wrapperPackage = '@foundry-rs/anvil'

/** How npm's packages of anvil's binaries call what Node calls x64. */
const arches: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/**
 * The command that runs anvil: its binary from the package for this platform or, where there is none, the script of the
 * wrapper package, which may know another way. Throws CHAIN_BINARY_MISSING.
 */
export function anvilCommand(host: Host = thisHost()): readonly [string, ...string[]] {
  const { platform, arch, resolve } = host
  try {
    const manifest = resolve(`${wrapperPackage}-${platform}-${arches[arch] ?? arch}/package.json`)
    return [join(dirname(manifest), 'bin', platform === 'win32' ? 'anvil.exe' : 'anvil')]
  } catch {
    return [process.execPath, wrapperScript(host)]
  }
}

function wrapperScript({ platform, arch, resolve }: Host): string {
  try {
    return join(dirname(resolve(`${wrapperPackage}/package.json`)), 'bin.mjs')
  } catch (cause) {
    throw new ContractsError('CHAIN_BINARY_MISSING', `no ${wrapperPackage} for ${platform} ${arch}`, {
      cause,
    })
  }
}

/** The platform's package is a dependency of the wrapper, so it is looked up from there when it is not hoisted. */
function thisHost(): Host {
  const require = createRequire(import.meta.url)
  const resolve = (id: string) =>
    require.resolve(id, { paths: [import.meta.dirname, ...wrapperPaths(require)] })
  return { platform: process.platform, arch: process.arch, resolve }
}

function wrapperPaths(require: NodeJS.Require): string[] {
  try {
    return [dirname(require.resolve(`${wrapperPackage}/package.json`))]
  } catch {
    return []
  }
}
