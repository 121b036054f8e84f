import { chromium, type Browser, type LaunchOptions } from 'playwright-core'
import { emulationError } from '../errors.ts'

/** Where Debian's package puts it. */
export const chromiumPath = process.env['RUNNEL_CHROMIUM'] ?? '/usr/bin/chromium'
/** On a busy machine one takes some seconds. Who closes them waits for those being launched, so at most as long. */
const launchedWithinMs = 30_000
const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking']

/** The Chromiums of a run. One that is still being launched when they are closed is closed as well. */
export class Browsers {
  readonly #launched: Promise<Browser>[] = []
  readonly #launch: (options: LaunchOptions) => Promise<Browser>
  #isClosed = false

  constructor(launch = (options: LaunchOptions) => chromium.launch(options)) {
    this.#launch = launch
  }

  /** `args` are those besides what all need. Rejects with PROCESS_FAILED when it does not start, or they have been closed. */
  async launch(options: LaunchOptions): Promise<Browser> {
    if (this.#isClosed) throw emulationError('PROCESS_FAILED', 'Chromiums have been closed')
    const launched = this.#launch({
      executablePath: chromiumPath,
      timeout: launchedWithinMs,
      ...options,
      args: [...args, ...(options.args ?? [])],
      // Who runs this ends the whole experiment, and not only the browser.
      ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false },
    })
    this.#launched.push(launched)
    try {
      return await launched
    } catch (cause) {
      throw emulationError('PROCESS_FAILED', `${chromiumPath} did not start`, { cause })
    }
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    const ends = await Promise.allSettled(this.#launched.splice(0))
    const browsers = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
    await Promise.all(browsers.map((browser) => browser.close()))
  }
}
