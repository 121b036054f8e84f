/** Time and bytes of V8 itself, as its profiles name them. */
const ofV8: Readonly<Record<string, string>> = {
  '(garbage collector)': 'V8 garbage collector',
  '(program)': 'V8 and native code',
  '(root)': 'V8 and native code',
}

/**
 * Where a function of a profile belongs: a room of a package (`network core/flood`), another part of the repository, a package of npm, or the platform.
 * `name` and `url` are those of V8's call frame.
 */
export function roomOf({
  functionName,
  url,
}: {
  readonly functionName: string
  readonly url: string
}): string {
  const inV8 = url === '' ? (ofV8[functionName] ?? 'V8 built in') : undefined
  if (inV8 !== undefined) return inV8
  if (url.startsWith('wasm:')) return 'WebAssembly'
  if (url.startsWith('node:internal/modules/')) return 'Node, loading modules'
  if (url.startsWith('node:')) return 'Node'
  const ofNpm = url.split('/node_modules/').at(-1)
  if (ofNpm !== undefined && ofNpm !== url) {
    const [first = '', second = ''] = ofNpm.split('/')
    return `npm ${first.startsWith('@') ? `${first}/${second}` : first}`
  }
  const [, name, path = ''] = /\/packages\/([\w-]+)\/(?:src|dist)\/(.*)$/.exec(url) ?? []
  if (name !== undefined) return [name, path.split('/').slice(0, -1).join('/')].join(' ').trim()
  return /\/(bench|sim|emulation|examples|contracts|scripts)\//.exec(url)?.[1] ?? 'other'
}
