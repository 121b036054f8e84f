import { exec, spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const keyFile = '.runnel/up/keys/user.key'
const runnel = `"${process.execPath}" "${join(root, 'packages/node/bin/runnel.js')}"`

/** The code blocks of one language. */
function blocks(language: string): string[] {
  return [...readme.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
    (match) => match[1] ?? '',
  )
}

/** The line of a shell block that contains `text`, with the command and the stream filled in. */
function command(text: string, stream: string): string {
  const line = blocks('sh')
    .flatMap((block) => block.split('\n'))
    .find((candidate) => candidate.includes(text))
  if (line === undefined) throw new Error(`README.md has no command with ${text}`)
  return line.replace('npx runnel', runnel).replace('<stream>', stream)
}

/** Resolves with the first line that matches. */
function line(child: ChildProcess, stream: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpMatchArray> {
  return new Promise((resolve, reject) => {
    const input = child[stream]
    if (!input) return reject(new Error(`the process has no ${stream}`))
    createInterface({ input }).on('line', (text) => {
      const match = text.match(pattern)
      if (match) resolve(match)
    })
    child.once('exit', (code) => reject(new Error(`ended with ${code} before ${pattern}`)))
  })
}

describe('the README', () => {
  let directory: string
  let up: ChildProcess
  let lobby: string

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'runnel-readme-'))
    up = spawn(process.execPath, [join(root, 'packages/node/bin/runnel.js'), 'up', '--nodes', '4'], {
      cwd: directory,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    up.stderr?.resume()
    const announced = await line(up, 'stdout', /subscribe (\S+\/lobby) /)
    lobby = announced[1] ?? ''
  })

  afterAll(async () => {
    const ended = new Promise((resolve) => up.once('exit', resolve))
    up.kill('SIGINT')
    await ended
    rmSync(directory, { recursive: true })
  })

  it('publishes and subscribes from another terminal with its commands', async () => {
    const subscriber = spawn(`exec ${command('runnel subscribe', lobby)}`, { cwd: directory, shell: true })
    const received = line(subscriber, 'stdout', /hello/)
    // The subscriber says on stderr when it has a neighbour; what is published from then on reaches it.
    await line(subscriber, 'stderr', /subscribed/)
    await output(command('runnel publish', lobby))
    expect(JSON.parse((await received).input ?? '')).toEqual({ hello: 'world' })
    subscriber.kill('SIGINT')
    await new Promise((resolve) => subscriber.once('exit', resolve))
  })

  it('embeds the client with its examples, and goes back in time', async () => {
    const [embed, history] = blocks('ts')
    expect(await run(embed)).toMatch(/^0x[0-9a-f]{40} \{ hello: 'world' \}\n$/)
    expect(await run(history)).toBe('then: stored\nstored\nlive\n')
    const stream = lobby.replace(/lobby$/, 'history')
    const owner = JSON.parse(await output(`${runnel} key show ${keyFile} --json`)) as { address: string }
    const resend = command('runnel resend last', stream.replace(/^0x[0-9a-f]+/, owner.address.toLowerCase()))
    expect(await output(resend)).toContain('"stored"')
  })

  /** Runs an example inside the repository, so that `@runnel/client` is found as an application finds it. */
  function run(example = ''): Promise<string> {
    const cache = join(root, '.runnel/readme')
    mkdirSync(cache, { recursive: true })
    const file = join(cache, 'example.mts')
    writeFileSync(file, example)
    return output(`"${process.execPath}" "${file}"`)
  }

  function output(line: string): Promise<string> {
    return new Promise((resolve, reject) =>
      exec(line, { cwd: directory }, (error, stdout) => (error ? reject(error) : resolve(stdout))),
    )
  }
})
