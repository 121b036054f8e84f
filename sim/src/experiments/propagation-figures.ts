import { lineFigure } from '../figures/line-figure.ts'
import type { Figure } from '../figures/write-figures.ts'
import { published } from '../published/thesis.ts'
import type { PropagationRow } from '../scenarios/repeated-propagation.ts'

const xTitle = 'nodes'
const xScale = 'log'
const [thesis, thesisWebSocket] = ['thesis, WebRTC', 'thesis, WebSocket']

/** Figures 5.6 to 5.9, measured and published. */
export function propagationFigures(rows: readonly PropagationRow[]): Figure[] {
  const measured = `measured, ${rows[0]?.overlay ?? ''}`
  const last = rows.at(-1)
  return [
    lineFigure({
      name: 'figure-5.6-distribution',
      title: `Message propagation times at ${last?.nodes ?? 0} nodes`,
      xTitle: 'ms',
      yTitle: 'share of deliveries',
      points: (last?.percentilesMs ?? []).map((x, percent) => ({ x, y: percent / 100, series: measured })),
    }),
    lineFigure({
      name: 'figure-5.7-propagation',
      title: 'Mean message propagation delay; bands from the lowest to the highest run',
      xTitle,
      xScale,
      yTitle: 'ms',
      points: [
        ...rows.map(({ nodes, meanMs, minMeanMs, maxMeanMs }) => ({
          x: nodes,
          y: meanMs,
          series: measured,
          low: minMeanMs,
          high: maxMeanMs,
        })),
        ...published.propagation.map(({ nodes, meanMs, minMs, maxMs }) => ({
          x: nodes,
          y: meanMs,
          series: thesis,
          low: minMs,
          high: maxMs,
        })),
        ...published.propagation.map(({ nodes, websocket: { meanMs, minMs, maxMs } }) => ({
          x: nodes,
          y: meanMs,
          series: thesisWebSocket,
          low: minMs,
          high: maxMs,
        })),
      ],
    }),
    lineFigure({
      name: 'figure-5.8-estimates',
      title: 'Estimated and measured mean message propagation delay',
      xTitle,
      xScale,
      yTitle: 'ms',
      points: [
        ...rows.flatMap(({ nodes: x, meanMs, estimatedMeanMs }) => [
          { x, y: meanMs, series: measured, style: 'measured' },
          { x, y: estimatedMeanMs, series: measured, style: 'estimated' },
        ]),
        ...published.propagation.flatMap(({ nodes: x, meanMs, estimatedMs }) => [
          { x, y: meanMs, series: thesis, style: 'measured' },
          { x, y: estimatedMs, series: thesis, style: 'estimated' },
        ]),
        ...published.propagation.flatMap(({ nodes: x, websocket: { meanMs, estimatedMs } }) => [
          { x, y: meanMs, series: thesisWebSocket, style: 'measured' },
          { x, y: estimatedMs, series: thesisWebSocket, style: 'estimated' },
        ]),
      ],
    }),
    lineFigure({
      name: 'figure-5.9-rdp',
      title: 'Relative delay penalty',
      xTitle,
      xScale,
      yTitle: 'RDP',
      points: [
        ...rows.map(({ nodes: x, rdp: y }) => ({ x, y, series: measured })),
        ...published.propagation.map(({ nodes: x, meanMs }) => ({
          x,
          y: meanMs / published.meanUnderlayOneWayMs,
          series: thesis,
        })),
        ...published.propagation.map(({ nodes: x, websocket: { meanMs } }) => ({
          x,
          y: meanMs / published.meanUnderlayOneWayMs,
          series: thesisWebSocket,
        })),
      ],
    }),
  ]
}
