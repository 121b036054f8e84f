import { readFileSync } from 'node:fs'

/** A code block of a Markdown page. */
export interface Block {
  readonly language: string
  readonly text: string
  /** The heading it stands under. */
  readonly section: string
}

/** The code blocks of a page, in order. */
export function blocksOf(file: string): Block[] {
  const page = readFileSync(file, 'utf8')
  return [...page.matchAll(/^```(\w+)\n(.*?)^```/gms)].map(({ 1: language = '', 2: text = '', index }) => {
    const section =
      page
        .slice(0, index)
        .match(/^## .*$/gm)
        ?.at(-1)
        ?.slice(3) ?? ''
    return { language, text, section }
  })
}

/** The commands in the last column of a page's tables, in order. */
export function commandsOfRows(file: string): string[] {
  const rows = readFileSync(file, 'utf8').match(/^\|.*\|$/gm) ?? []
  return rows
    .map((row) => row.split(' | ').at(-1) ?? '')
    .flatMap((cell) => [...cell.matchAll(/`((?:npx|npm) [^`]+)`/g)])
    .map(([, command = '']) => command.replaceAll('\\|', '|'))
}

/** Whether each line stands in the output, in order; `…` in a line stands for anything. */
export function isIn(lines: readonly string[], output: string): boolean {
  const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const patterns = lines.map((line) => line.split('…').map(literal).join('.*'))
  return new RegExp(patterns.join('[^]*')).test(output)
}
