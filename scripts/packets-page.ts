// Writes the table of packets in docs/protocol.md from the code's:  node --conditions=runnel-src scripts/packets-page.ts
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { packetTable, type PacketScope } from '@runnel/protocol'

/** Where the page stands. */
export const protocolPageFile = fileURLToPath(new URL('../docs/protocol.md', import.meta.url))

const directions: Readonly<Record<PacketScope, string>> = {
  link: 'either side',
  neighbours: 'node → node',
  clocks: 'node → node',
  delegations: 'node → node',
  toStorage: 'node → storage node',
  fromStorage: 'storage node → node',
  toTracker: 'node → tracker',
  fromTracker: 'tracker → node',
  throughTracker: 'node → tracker → node',
}

/** The page with its table as it must stand there. What a body is made of only the page says, and stays. */
export function protocolPage(page: string): string {
  const [, before = '', table = '', after = ''] =
    page.match(/^(.*<!-- packets -->\n)(.*?)(\n<!-- end of packets -->.*)$/s) ?? []
  const bodies = new Map(
    [...table.matchAll(/^\| 0x\w\w +\| (\w+) +\|(?:[^|]+\|)*? ([^|]+?) +\|$/gm)].map(([, name, body]) => [
      name,
      body,
    ]),
  )
  const rows = Object.entries(packetTable).map(([name, { number, scope, since }]) => {
    const type = `0x${number.toString(16).padStart(2, '0')}`
    return [type, name, directions[scope], since, bodies.get(name) ?? 'not described yet']
  })
  return `${before}\n${aligned([['Type', 'Name', 'From → to', 'Since', 'Body'], ...rows])}\n${after}`
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[], fill: string) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(' | ')} |`
  const [head = [], ...body] = rows
  return [
    line(head, ' '),
    line(
      head.map(() => ''),
      '-',
    ),
    ...body.map((row) => line(row, ' ')),
  ].join('\n')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  writeFileSync(protocolPageFile, protocolPage(readFileSync(protocolPageFile, 'utf8')))
