import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const releases = join(root, 'releases')
const versions = readdirSync(releases, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
)

/** How to start a peer of a release. */
type Release = readonly string[]
const ours: Release = ['--conditions=runnel-src', join(root, 'scripts/release-peer.mjs')]

interface Line {
  readonly type: 'ready' | 'message'
  readonly nodeId?: string
  readonly url?: string
  readonly text?: string
}

const directories: string[] = []
const peers: Peer[] = []
afterEach(async () => {
  await Promise.all(peers.splice(0).map((peer) => peer.stop()))
})
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true })
})

/** A process of some release. */
class Peer {
  readonly texts: string[] = []
  readonly ready: Promise<Line>
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  #onLine: () => void = () => {}

  constructor(release: Release, options: object) {
    const child = spawn(process.execPath, [...release, JSON.stringify(options)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#child = child
    this.#ended = new Promise((resolve) => child.once('exit', resolve))
    const { promise, resolve, reject } = Promise.withResolvers<Line>()
    this.ready = promise
    child.once('exit', (code) => reject(new Error(`it ended with ${code}`)))
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = JSON.parse(text) as Line
      if (line.type === 'ready') resolve(line)
      else this.texts.push(line.text ?? '')
      this.#onLine()
    })
    peers.push(this)
  }

  publish(text: string): void {
    this.#child.stdin?.write(`${text}\n`)
  }

  async received(count: number): Promise<void> {
    while (this.texts.length < count) await new Promise<void>((resolve) => (this.#onLine = resolve))
  }

  /** Resolves when this is the newest message. */
  async last(text: string | undefined): Promise<void> {
    while (this.texts.at(-1) !== text) await new Promise<void>((resolve) => (this.#onLine = resolve))
  }

  async stop(): Promise<void> {
    this.#child.stdin?.end()
    await this.#ended
  }
}

/** Installs a kept release, with what it stands on from this repository. */
function install(version: string): Release {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-release-'))
  directories.push(directory)
  const modules = join(directory, 'node_modules')
  mkdirSync(join(modules, '@runnel'), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '@runnel') symlinkSync(join(root, 'node_modules', name), join(modules, name))
  const kept = join(releases, version)
  for (const file of readdirSync(kept)) {
    const name = /^runnel-(\w+)-.*\.tgz$/.exec(file)?.[1]
    if (name === undefined) continue
    const target = join(modules, '@runnel', name)
    mkdirSync(target)
    execFileSync('tar', ['-xzf', join(kept, file), '-C', target, '--strip-components=1'])
  }
  execFileSync('cp', [join(kept, 'peer.mjs'), directory])
  return [join(directory, 'peer.mjs')]
}

/** Nodes of these releases at one tracker each publish, and all have everything of each other, in order. */
async function talk(tracker: Release, nodes: readonly Release[]): Promise<void> {
  const at = await new Peer(tracker, { role: 'tracker' }).ready
  const streamPartId = `${at.nodeId}/releases#0`
  const options = { role: 'node', tracker: { nodeId: at.nodeId, url: at.url }, streamPartId }
  const members = nodes.map((release) => new Peer(release, { ...options, neighbours: nodes.length - 1 }))
  await Promise.all(members.map(({ ready }) => ready))
  const count = 20
  for (let i = 0; i < count; i++) for (const [n, member] of members.entries()) member.publish(`${n} ${i}`)
  await Promise.all(members.map((member) => member.received(count * (members.length - 1))))
  for (const [n, { texts }] of members.entries()) {
    for (const [other] of members.entries()) {
      const of = texts.filter((text) => text.startsWith(`${other} `))
      expect(of).toEqual(other === n ? [] : Array.from({ length: count }, (_, i) => `${other} ${i}`))
    }
  }
}

/**
 * A network of one release becomes one of another, one process after the other, while somebody publishes; who stays has every
 * message in order.
 */
async function upgrade(from: Release, to: Release): Promise<void> {
  const privateKey = '17'.repeat(32)
  const oldTracker = new Peer(from, { role: 'tracker', privateKey })
  const at = await oldTracker.ready
  const streamPartId = `${at.nodeId}/releases#0`
  const node = (release: Release, neighbours: number) =>
    new Peer(release, {
      ...{ role: 'node', tracker: { nodeId: at.nodeId, url: at.url }, streamPartId, neighbours },
    })
  const [publisher, staying, leaving] = [node(from, 2), node(from, 2), node(from, 2)]
  await Promise.all([publisher, staying, leaving].map(({ ready }) => ready))
  const sent: string[] = []
  const publish = async (): Promise<void> => {
    for (let i = 0; i < 10; i++) {
      sent.push(`message ${sent.length}`)
      publisher.publish(sent.at(-1) ?? '')
      await staying.received(sent.length)
    }
  }
  await publish()
  await leaving.stop()
  await publish()
  const upgraded = node(to, 2)
  await upgraded.ready
  const since = sent.length
  await publish()
  await oldTracker.stop()
  await publish()
  const port = Number(new URL(at.url ?? '').port)
  await new Peer(to, { role: 'tracker', privateKey, port }).ready
  const newcomer = node(to, 3)
  await newcomer.ready
  await publish()
  await upgraded.last(sent.at(-1))
  expect(staying.texts).toEqual(sent)
  // What is replayed from before it came may come later, from a neighbour that attached later.
  expect(upgraded.texts.filter((text) => sent.indexOf(text) >= since)).toEqual(sent.slice(since))
}

describe.each(versions)('this version and release %s', { timeout: 60_000 }, (version) => {
  const kept = install(version)

  it('talk at a tracker of the release', () => talk(kept, [kept, ours, ours]))

  it('talk at a tracker of this version', () => talk(ours, [ours, kept, kept]))

  it('can replace the release in a running network, nodes and tracker', () => upgrade(kept, ours))

  it('can be replaced by the release', () => upgrade(ours, kept))
})
