import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Gauge, Registry } from 'prom-client'
import { nodeError } from '../../errors.ts'
import type { SecondFigures } from '../load/seconds.ts'

/** Serves the figures of the last second while a run goes on. */
export interface PrometheusPage {
  readonly url: string
  show(second: SecondFigures): void
  /** Idempotent. */
  stop(): Promise<void>
}

const gauges = {
  publishedPerS: ['runnel_bench_published_per_second', 'Messages the users published in the last second'],
  receivedPerS: ['runnel_bench_received_per_second', 'Messages the users received in the last second'],
  p50Ms: ['runnel_bench_delay_p50_milliseconds', 'Median delay in the last second'],
  p99Ms: ['runnel_bench_delay_p99_milliseconds', '99th percentile of delays in the last second'],
  cpuShare: ['runnel_bench_generator_cpu_share', 'CPU time of the busiest generator, as a share of one core'],
} as const satisfies Partial<Record<keyof SecondFigures, readonly [string, string]>>

/** Listens on 127.0.0.1; port 0 takes a free one. Throws USAGE where the port cannot be had. */
export async function servePrometheus(port: number): Promise<PrometheusPage> {
  const registry = new Registry()
  const made = Object.entries(gauges).map(([figure, [name, help]]) => {
    const gauge = new Gauge({ name, help, registers: [registry] })
    // A gauge begins with 0, which nobody has measured.
    gauge.set(Number.NaN)
    return [figure as keyof typeof gauges, gauge] as const
  })
  const server = createServer((_, response) => {
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(nodeError('USAGE', `--prometheus ${port}: ${cause.message}`, { cause })),
    )
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`,
    show: (second) => {
      for (const [figure, gauge] of made) gauge.set(second[figure] ?? Number.NaN)
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
