import type { Command } from './command.ts'
import { thisProgram } from './program-name.ts'

/** The examples of a command for its help text. Lines that are too long for a terminal continue as a shell continues them, so they can be copied. */
export function examplesText({ examples }: Command, width: number): string {
  const paragraphs = examples.map(([line, meaning]) =>
    [
      ...(meaning === '' ? [] : [`  # ${meaning}`]),
      ...continued(`${thisProgram()} ${line}`, width - 4).map((text) => `  ${text}`),
    ].join('\n'),
  )
  return `Examples:\n${paragraphs.join('\n\n')}`
}

/** A command on as many lines as it takes, broken between words only; the value of an option stays with it. */
export function continued(command: string, width: number): string[] {
  const words = command.match(/(?:--[\w-]+ (?![-<|>]))?(?:'[^']*'|"[^"]*"|\S)+/g) ?? []
  const lines: string[] = []
  let line = ''
  for (const word of words) {
    if (line !== '' && line.length + 1 + word.length + 2 > width) {
      lines.push(`${line} \\`)
      line = `  ${word}`
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
