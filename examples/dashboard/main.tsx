/** @jsxImportSource react */
import type { RunnelClient } from '@runnel/client/browser'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { element } from '../shared/page.ts'
import { useClient, useStream } from './use-stream.ts'

/** Points of a line. */
const maxPoints = 60

interface Tile {
  readonly title: string
  readonly path: string
  /** A number of what the machine measured, and how it is written; undefined for content that is something else. */
  readonly read: (content: Readonly<Record<string, unknown>>) => number | undefined
  readonly write: (value: number) => string
}

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
const percent = (value: number) => `${Math.round(100 * value)} %`

const tiles: readonly Tile[] = [
  {
    title: 'Processors',
    path: 'system/cpu',
    read: ({ busy }) => (isNumber(busy) ? busy : undefined),
    write: percent,
  },
  {
    title: 'Memory in use',
    path: 'system/memory',
    read: ({ totalBytes, freeBytes }) =>
      isNumber(totalBytes) && isNumber(freeBytes) && totalBytes > 0 ? 1 - freeBytes / totalBytes : undefined,
    write: percent,
  },
  {
    title: 'Processes that want to run',
    path: 'system/load',
    read: ({ averages }) => {
      const [overMinute]: readonly unknown[] = Array.isArray(averages) ? averages : []
      return isNumber(overMinute) ? overMinute : undefined
    },
    write: (load) => load.toFixed(2),
  },
]

function Dashboard() {
  const { value: client, trouble } = useClient()
  return (
    <>
      <h1>Dashboard</h1>
      <p id="state" role="status">
        {trouble ?? (client === undefined ? 'Joining…' : `This page is the node ${client.nodeId}.`)}
      </p>
      <div className="tiles">
        {tiles.map((tile) => (
          <TileView key={tile.path} tile={tile} client={client} />
        ))}
      </div>
    </>
  )
}

function TileView({ tile, client }: { readonly tile: Tile; readonly client: RunnelClient | undefined }) {
  const { value: messages = [], trouble } = useStream(client, tile.path, maxPoints)
  const values = messages.flatMap(({ content }) => {
    const value = typeof content === 'object' && content !== null ? tile.read({ ...content }) : undefined
    return value === undefined ? [] : [value]
  })
  const newest = values.at(-1)
  return (
    <section aria-label={tile.title}>
      <h2>{tile.title}</h2>
      <output>{newest === undefined ? '–' : tile.write(newest)}</output>
      <Line values={values} />
      <p>{trouble ?? tile.path}</p>
    </section>
  )
}

function Line({ values }: { readonly values: readonly number[] }) {
  const most = Math.max(1e-9, ...values)
  const points = values.map(
    (value, index) => `${(index * 240) / (maxPoints - 1)},${98 - (96 * value) / most}`,
  )
  return (
    <svg viewBox="0 0 240 100" preserveAspectRatio="none" aria-hidden="true">
      <polyline points={points.join(' ')} fill="none" vectorEffect="non-scaling-stroke" />
    </svg>
  )
}

createRoot(element('dashboard', HTMLElement)).render(
  <StrictMode>
    <Dashboard />
  </StrictMode>,
)
