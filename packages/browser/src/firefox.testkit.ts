import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Where Debian's package puts it; `npm test` installs it when it is missing. */
const executablePath = process.env['RUNNEL_FIREFOX'] ?? '/usr/bin/firefox-esr'

/** So that it asks nobody and nothing at its start. */
const preferences = {
  'app.normandy.enabled': false,
  'app.update.disabledForTesting': true,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.page': 0,
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,#',
  'toolkit.telemetry.server': 'data:,',
  // Two pages of one machine without a network of its own meet on the loopback address only.
  'media.peerconnection.ice.loopback': true,
}

type Result = Readonly<Record<string, unknown>>

/** A real Firefox without a window and with one page, driven by WebDriver BiDi (W3C), of which few commands are enough. */
export class Firefox {
  readonly #process: ChildProcess
  readonly #profile: string
  readonly #socket: WebSocket
  readonly #answers = new Map<number, (answer: Result) => void>()
  #context = ''
  #commands = 0

  private constructor(process: ChildProcess, profile: string, socket: WebSocket) {
    this.#process = process
    this.#profile = profile
    this.#socket = socket
    socket.onmessage = ({ data }) => {
      const answer = JSON.parse(String(data)) as Result
      this.#answers.get(Number(answer['id']))?.(answer)
    }
  }

  /** Fails when there is none: nothing is skipped. */
  static async launch(): Promise<Firefox> {
    const profile = mkdtempSync(join(tmpdir(), 'runnel-firefox-'))
    const lines = Object.entries(preferences).map(
      ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
    )
    writeFileSync(join(profile, 'user.js'), lines.join('\n'))
    const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0']
    const process = spawn(executablePath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    const socket = new WebSocket(`${await bidiUrl(process)}/session`)
    await new Promise((resolve, reject) => Object.assign(socket, { onopen: resolve, onerror: reject }))
    const firefox = new Firefox(process, profile, socket)
    await firefox.#send('session.new', { capabilities: {} })
    const { contexts } = await firefox.#send('browsingContext.getTree', {})
    firefox.#context = (contexts as { context: string }[])[0]?.context ?? ''
    return firefox
  }

  async open(url: string): Promise<void> {
    await this.#send('browsingContext.navigate', { context: this.#context, url, wait: 'complete' })
  }

  /** What an expression in the page comes to, or the promise that it is, by way of JSON. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.#send('script.evaluate', {
      expression: `Promise.resolve(${expression}).then((value) => JSON.stringify({ value }))`,
      target: { context: this.#context },
      awaitPromise: true,
    })
    if (exceptionDetails !== undefined) throw new Error((exceptionDetails as { text: string }).text)
    return (JSON.parse((result as { value: string }).value) as { value?: unknown }).value
  }

  async close(): Promise<void> {
    const exited = once(this.#process, 'exit')
    await this.#send('browser.close', {})
    await exited
    rmSync(this.#profile, { recursive: true })
  }

  async #send(method: string, params: object): Promise<Result> {
    const id = ++this.#commands
    const answer = await new Promise<Result>((resolve) => {
      this.#answers.set(id, resolve)
      this.#socket.send(JSON.stringify({ id, method, params }))
    })
    this.#answers.delete(id)
    if (answer['type'] === 'error') throw new Error(`${method}: ${String(answer['message'])}`)
    return answer['result'] as Result
  }
}

/** It says on stderr where it can be driven. */
async function bidiUrl({ stderr }: ChildProcess): Promise<string> {
  if (stderr === null) throw new Error('Firefox has no stderr')
  for await (const line of createInterface({ input: stderr })) {
    const [, url] = /WebDriver BiDi listening on (ws:\S+)/.exec(line) ?? []
    if (url !== undefined) {
      stderr.resume()
      return url
    }
  }
  throw new Error('Firefox ended before it could be driven')
}
