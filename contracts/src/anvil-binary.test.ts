import { access, constants } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { anvilCommand } from './anvil-binary.ts'

interface Manifest {
  readonly peerDependencies: Readonly<Record<string, string>>
}

/** Finds the packages given, in a directory of their name. */
function installed(...packages: string[]) {
  return (id: string) => {
    if (!packages.some((name) => id === `${name}/package.json`)) throw new Error(`Cannot find module ${id}`)
    return `/modules/${id}`
  }
}

describe('anvilCommand', () => {
  it('finds a program on this machine', async () => {
    for (const file of anvilCommand()) await access(file, constants.R_OK)
  })

  it.each([
    { platform: 'linux', arch: 'x64', name: 'linux-amd64', file: 'anvil' },
    { platform: 'darwin', arch: 'arm64', name: 'darwin-arm64', file: 'anvil' },
    { platform: 'win32', arch: 'x64', name: 'win32-amd64', file: 'anvil.exe' },
  ])('takes the binary of $name', ({ platform, arch, name, file }) => {
    const resolve = installed(`@foundry-rs/anvil-${name}`, '@foundry-rs/anvil')
    expect(anvilCommand({ platform, arch, resolve })).toEqual([
      `/modules/@foundry-rs/anvil-${name}/bin/${file}`,
    ])
  })

  it('falls back to the wrapper on other platforms', () => {
    const resolve = installed('@foundry-rs/anvil')
    expect(anvilCommand({ platform: 'freebsd', arch: 'riscv64', resolve })).toEqual([
      process.execPath,
      '/modules/@foundry-rs/anvil/bin.mjs',
    ])
  })

  it('tells when neither is installed, and how to add the version it is made for', () => {
    const { peerDependencies } = createRequire(import.meta.url)('../package.json') as Manifest
    expect(() => anvilCommand({ platform: 'linux', arch: 'x64', resolve: installed() })).toThrow(
      expect.objectContaining({
        code: 'CHAIN_BINARY_MISSING',
        remedy: expect.stringContaining(
          `npm install @foundry-rs/anvil@${peerDependencies['@foundry-rs/anvil']},`,
        ),
      }),
    )
  })
})
