import { chromium, type Browser } from 'playwright-core'

/** Where Debian's package puts it; `npm test` installs it when it is missing. */
const executablePath = process.env['RUNNEL_CHROMIUM'] ?? '/usr/bin/chromium'

/** Devices that Chromium makes up: a camera with a picture that moves, a microphone that beeps. A context permits them; pages may play sound. */
export const fakeDevices: readonly string[] = [
  '--use-fake-device-for-media-stream',
  '--autoplay-policy=no-user-gesture-required',
]
export const devicePermissions: readonly string[] = ['camera', 'microphone']

/** A real Chromium without a window. Fails when there is none: nothing is skipped. */
export function launchChromium(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...args,
    ],
  })
}
