import { element, join, run, say, streamCalled } from '../shared/page.ts'

/** Points of the line. */
const maxPoints = 120

/** The share of time that processors were busy, 0 to 1; undefined for anything else. */
function busyShare(content: unknown): number | undefined {
  const { busy } = (content ?? {}) as Partial<Record<string, unknown>>
  return typeof busy === 'number' && busy >= 0 && busy <= 1 ? busy : undefined
}

run(async () => {
  const client = await join()
  const measurements = await streamCalled(client, 'system/cpu')
  const values: number[] = []
  const subscription = await client.subscribe(measurements, {}, ({ content }) => {
    const busy = busyShare(content)
    if (busy === undefined) return
    values.push(busy)
    if (values.length > maxPoints) values.shift()
    draw(values)
  })
  await subscription.waitForNeighbours()
  say('Live, from the overlay of which this page is a node.')
})

function draw(values: readonly number[]): void {
  const step = 240 / (maxPoints - 1)
  const points = values.map((busy, index) => `${(index * step).toFixed(1)},${(98 - 96 * busy).toFixed(1)}`)
  element('line', SVGPolylineElement).setAttribute('points', points.join(' '))
  const share = Math.round(100 * (values.at(-1) ?? 0))
  element('value', HTMLOutputElement).value = `${share} %`
}
