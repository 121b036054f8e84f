import type { Propagation } from '../api/answers.ts'
import type { Overlay } from '../api/trackers.ts'
import { palettes, rttColours, rttStep, type Theme } from '../colours.ts'
import { figuresOf, quantile } from '../figures.ts'
import { formatCount, formatMs, shownHost } from '../format.ts'
import { scaleOf } from '../graph/scene.ts'
import type { LiveLog } from '../live/live-log.ts'
import { Histogram } from '../parts/histogram.tsx'
import { Notice } from '../parts/notice.tsx'
import { Stat } from '../parts/stat.tsx'
import { notReported } from '../transports.ts'
import type { Polled } from '../use-polled.ts'
import { whyNoPrediction } from './why-no-prediction.ts'

export interface OverlayFactsProps {
  readonly overlay: Overlay
  readonly propagation: Polled<Propagation>
  readonly theme: Theme
  /** What this page has received, once it takes part. */
  readonly log: LiveLog | undefined
}

/** An overlay in figures. */
export function OverlayFacts({ overlay, propagation, theme, log }: OverlayFactsProps) {
  const { nodes, edges, policy } = overlay
  const figures = figuresOf(nodes, edges)
  const rtts = edges.flatMap(({ rttMs }) => rttMs ?? [])
  const scale = scaleOf(overlay)
  const colours = rttColours(palettes[theme])
  const degree =
    figures.minDegree === figures.maxDegree
      ? `${figures.maxDegree}`
      : `${figures.minDegree}–${figures.maxDegree}`
  return (
    <>
      <div class="card">
        <h2>Overlay</h2>
        <dl class="facts-list">
          <Stat label="Nodes">{formatCount(overlay.nodeCount)}</Stat>
          <Stat label="Edges">{formatCount(overlay.edgeCount)}</Stat>
          <Stat label="Neighbours each">{degree}</Stat>
          <Stat label="Construction">{policy}</Stat>
          <Stat label="Led by">
            <a href="#/trackers">{shownHost(overlay.base)}</a>
          </Stat>
          <Stat label="Near edges">{share(figures.nearEdges, figures.edges)}</Stat>
          {figures.transports.map(({ name, edges: ofKind }) => (
            <Stat key={name} label={name === notReported ? 'Transport not reported' : name}>
              {share(ofKind, figures.edges)}
            </Stat>
          ))}
        </dl>
        {figures.transports.length > 0 && (
          <p class="empty measured">
            Transports as reported by both ends of an edge, and only if they agree.
          </p>
        )}
      </div>
      <div class="card">
        <h2>Round-trip times</h2>
        {figures.rtt === null ? (
          <p class="empty">No node has measured one yet.</p>
        ) : (
          <>
            <Histogram
              timesMs={rtts}
              label="Distribution of round-trip times of edges"
              colourOf={(ms) => colours[rttStep(ms, scale)] ?? ''}
            />
            <dl class="facts-list">
              <Stat label="Median">{formatMs(figures.rtt.medianMs)}</Stat>
              <Stat label="95th percentile">{formatMs(figures.rtt.p95Ms)}</Stat>
              <Stat label="Measured">{share(figures.rtt.measured, figures.edges)}</Stat>
            </dl>
          </>
        )}
      </div>
      <div class="card">
        <h2>Propagation</h2>
        <Notice failure={propagation.failure} readAtMs={propagation.value && propagation.readAtMs} />
        <Predicted propagation={propagation} />
        <Measured log={log} />
      </div>
    </>
  )
}

function Predicted({ propagation }: { readonly propagation: Polled<Propagation> }) {
  const reason = whyNoPrediction(propagation)
  if (reason !== undefined) return <p class="empty">{reason}</p>
  const { delays, processingMs } = propagation.value ?? {}
  if (!delays) return null
  return (
    <dl class="facts-list">
      <Stat
        label="Predicted mean"
        hint={`From any node to any other, with ${formatMs(processingMs)} at each node`}
      >
        {formatMs(delays.meanMs)}
      </Stat>
      <Stat label="Predicted, 99th percentile">{formatMs(delays.p99Ms)}</Stat>
    </dl>
  )
}

function Measured({ log }: { readonly log: LiveLog | undefined }) {
  const delays = log?.delaysMs() ?? []
  if (delays.length === 0)
    return (
      <p class="empty measured">Measured delays appear here once this page has joined and messages arrive.</p>
    )
  const hint = "From the publisher's clock to the clock of this device: correct only if both agree"
  return (
    <dl class="facts-list measured">
      <Stat label="Measured here, median" hint={hint}>
        {formatMs(quantile(delays, 0.5))}
      </Stat>
      <Stat label="Measured, 99th percentile" hint={hint}>
        {formatMs(quantile(delays, 0.99))}
      </Stat>
    </dl>
  )
}

function share(part: number, whole: number): string {
  return whole === 0 ? '–' : `${formatCount(part)} · ${Math.round((100 * part) / whole)} %`
}
