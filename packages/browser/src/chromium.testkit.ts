import { chromium, type Browser } from 'playwright-core'

/** Where Debian's package puts it; `npm test` installs it when it is missing. */
const executablePath = process.env['RUNNEL_CHROMIUM'] ?? '/usr/bin/chromium'

/** A real Chromium without a window. Fails when there is none: nothing is skipped. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
