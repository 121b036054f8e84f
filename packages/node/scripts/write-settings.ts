/** Writes the table of settings into the README: `npm run docs -w packages/node`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { settingsTable } from '../src/config/settings-table.ts'

const readme = new URL('../README.md', import.meta.url)
const [before = '', rest = ''] = readFileSync(readme, 'utf8').split('<!-- settings -->\n')
const [, after = ''] = rest.split('<!-- end of settings -->')
writeFileSync(readme, `${before}<!-- settings -->\n\n${settingsTable()}\n\n<!-- end of settings -->${after}`)
