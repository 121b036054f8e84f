import { settings, type Setting } from './settings.ts'

/** The settings as a Markdown table, for the documentation; a test compares the two. */
export function settingsTable(): string {
  const rows = settings.map((setting) => [
    code(setting.path.join('.')),
    code(setting.env),
    code(`--${setting.flag}`),
    defaultOf(setting),
    setting.description + (setting.choices ? ` One of ${setting.choices.join(', ')}.` : ''),
  ])
  const header = ['setting', 'environment', 'flag', 'default', 'meaning']
  const cells = [header, header.map(() => '---'), ...rows]
  return cells.map((row) => `| ${row.join(' | ')} |`).join('\n')
}

function defaultOf({ defaultValue }: Setting): string {
  return defaultValue === undefined ? '–' : code(JSON.stringify(defaultValue))
}

function code(text: string): string {
  return `\`${text}\``
}
