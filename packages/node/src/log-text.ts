import { printable } from './cli/printable.ts'

const levels: Readonly<Record<number, string>> = {
  20: 'debug',
  30: 'info ',
  40: 'WARN ',
  50: 'ERROR',
  60: 'FATAL',
}

/** Of every line the same, or in its text. */
const leftOut = new Set(['level', 'time', 'pid', 'hostname', 'name', 'msg', 'err'])

/** A log line of pino, one of JSON, for people: time of day, level, message, and what else is in it. */
export function textOfLogLine(json: string): string {
  const line = JSON.parse(json) as Readonly<Record<string, unknown>> & LogLine
  const date = new Date(line.time)
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':')
  const details = Object.entries(line)
    .filter(([key]) => !leftOut.has(key))
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  const [first = '', ...stack] = [line.msg, ...details].join('  ').split('\n')
  const error = line.err?.stack ?? line.err?.message
  const more = [...stack, ...(error?.split('\n') ?? [])].map((text) => `\n    ${printable(text)}`)
  return `${time} ${levels[line.level] ?? line.level} ${printable(first)}${more.join('')}\n`
}

interface LogLine {
  readonly level: number
  readonly time: number
  readonly msg?: string
  readonly err?: { readonly stack?: string; readonly message?: string }
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
