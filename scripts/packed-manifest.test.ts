import { describe, expect, it } from 'vitest'
import { packedManifest, repositoryUrl } from './packed-manifest.mjs'

describe('packedManifest', () => {
  it('has no way to sources that are not packed', () => {
    const manifest = {
      name: 'x',
      devDependencies: { y: '1.0.0' },
      exports: {
        '.': {
          browser: { 'runnel-src': './src/page.ts', default: './dist/page.js' },
          'runnel-src': './src/index.ts',
          default: './dist/index.js',
        },
        './tool': { 'runnel-src': './src/tool.ts' },
      },
    }
    expect(packedManifest(manifest)).toEqual({
      name: 'x',
      exports: { '.': { browser: { default: './dist/page.js' }, default: './dist/index.js' } },
    })
  })

  it('has what `publishConfig` says in place of what it says elsewhere', () => {
    const inside = { exports: { '.': { default: './dist/inside.js' } }, dependencies: {} }
    const manifest = { name: 'x', exports: './x.js', dependencies: { y: '1.0.0' }, publishConfig: inside }
    expect(packedManifest(manifest)).toEqual({ name: 'x', ...inside })
  })

  it('says where the sources are, where that is known', () => {
    const repository = { type: 'git', url: 'git+https://git.example/r.git', directory: 'packages/x' } as const
    expect(packedManifest({ name: 'x', exports: './x.js' }, repository)).toMatchObject({ repository })
  })
})

describe('repositoryUrl', () => {
  it.each([
    ['https://git.example/a/b.git', 'git+https://git.example/a/b.git'],
    ['https://someone:secret@git.example/a/b.git', 'git+https://git.example/a/b.git'],
    ['https://token@git.example/a/b', 'git+https://git.example/a/b'],
    ['ssh://git@git.example:2222/a/b.git', 'git+ssh://git@git.example:2222/a/b.git'],
    ['git@git.example:a/b.git', 'git+ssh://git@git.example/a/b.git'],
  ])('of %s', (remote, url) => {
    expect(repositoryUrl(remote)).toBe(url)
  })

  it.each(['/srv/git/b.git', '../b', 'file:///srv/b.git', 'C:/b', 'C:\\b', 'host:b', ''])(
    'is none of %s',
    (remote) => {
      expect(repositoryUrl(remote)).toBeUndefined()
    },
  )
})
