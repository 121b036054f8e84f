import { textTable } from '@runnel/sim/text-table'
import source from './source-003.json' with { type: 'json' }

/** Table 1 of the source for sessions of these sizes: full sessions a machine, and in brackets all users that joined. */
export function sourceHeldTable(sizes: readonly number[]): string {
  const strategies = [...new Set(source.held.map(({ strategy }) => strategy))]
  const rows = sizes.map((size) => [
    size,
    ...strategies.map((strategy) => {
      const one = source.held.find((some) => some.members === size && some.strategy === strategy)
      return one && `${one.sessions} (${one.joined})`
    }),
  ])
  return `Table 1 of the source:\n${textTable(['members', ...strategies], rows)}`
}

/** Table 2 of the source: 5 a session, at 70 % of what its machines held. */
export function sourceFinalTable(): string {
  const columns = [
    'strategy',
    'sessionsPerMachine',
    'machines',
    'sessions',
    'users',
    'minutes',
    'usd',
  ] as const
  const rows = source.final.map((row) => columns.map((column) => row[column]))
  return `Table 2 of the source:\n${textTable(columns, rows)}`
}
