import type { Options } from 'yargs'
import { loadConfig } from '../config/load-config.ts'
import type { BrokerConfig } from '../config/schema.ts'
import { settings, type Setting } from '../config/settings.ts'
import { notice } from './output.ts'
import { globalOptions } from './common-options.ts'

/** Every setting of a broker node as a flag; defaults come in later, so that a flag not given does not hide the file. */
export const settingOptions: Readonly<Record<string, Options>> = {
  config: {
    type: 'string',
    describe: 'Configuration file. Default: runnel.json, if it exists',
  },
  ...Object.fromEntries(
    settings
      .filter(({ flag }) => !(flag in globalOptions))
      .map((setting) => [setting.flag, optionOf(setting)]),
  ),
}

/** The configuration that the flags of `settingOptions`, the environment and the file make. Throws what `loadConfig` throws. */
export function configOfFlags(args: Readonly<Record<string, unknown>>): BrokerConfig {
  const { config: file, ...flags } = args as { config?: string } & Record<string, unknown>
  return loadConfig({ file, flags, env: process.env, directory: process.cwd(), onHidden: notice })
}

function optionOf({ type, choices, description, defaultValue }: Setting): Options {
  const describe =
    defaultValue === undefined ? description : `${description} Default: ${JSON.stringify(defaultValue)}.`
  const list = type === 'list' ? { array: true } : {}
  const value = type === 'list' || type === 'json' ? 'string' : type
  return {
    type: value,
    describe,
    ...list,
    ...(choices ? { choices } : {}),
  }
}
