import { setTimeout as pause } from 'node:timers/promises'
import { beginPhase, showProgress } from '../phase.ts'
import { within } from '../settling.ts'
import { percentile, round } from '../statistics.ts'
import { publishPacket, RawClient } from './raw-client.ts'
import { startMosquitto, startNetwork, type MqttServer } from './servers.ts'

export interface MqttBenchOptions {
  /** In the overlay, two of them with gateways. */
  readonly nodes: number
  /** Messages a second, and for how long, of the delays. */
  readonly ratePerS: number
  readonly seconds: number
  /** For how long before that, at the same rate: the first seconds are those of the compiler. */
  readonly warmUpS: number
  /** As fast as they go, through one gateway. */
  readonly messages: number
  readonly idle: number
  /** Each publishes a message a second. */
  readonly busy: number
  /** Whether Mosquitto is measured beside. */
  readonly mosquitto: boolean
  readonly limitS: number
}

const messageBytes = 100
/** Published and not yet received, at most, when messages go as fast as they can. */
const window = 4_000
const stepMs = 10
/** How long after the last message was published what has not come counts as lost: a busy machine is slow, and loses nothing. */
const lateS = 60

/** Delays, messages a second, and what connections cost, of gateways and of Mosquitto in turn. */
export async function mqttBench(options: MqttBenchOptions) {
  const network = await startNetwork(options.nodes)
  const mosquitto = options.mosquitto ? await startMosquitto() : undefined
  try {
    return await within(options.limitS * 1000, 'MQTT', measure())
  } finally {
    await mosquitto?.stop()
    await network.stop()
  }

  async function measure() {
    const { gateways, topic, aloneTopic } = network
    const [one, other] = gateways
    const pairs = [
      { from: one, to: other, topic },
      ...(mosquitto ? [{ from: mosquitto, to: mosquitto, topic }] : []),
    ]
    // First, as memory that was used before is used again.
    const costs = []
    beginPhase('connections')
    for (const server of [one, ...(mosquitto ? [mosquitto] : [])])
      costs.push(await costsOf(server, topic, options))
    const delays = []
    beginPhase('delays')
    for (const pair of pairs) delays.push(await delaysOf(pair, options))
    beginPhase('throughput')
    const throughput = await rateOf(one, topic, options.messages)
    const alone = await rateOf(one, aloneTopic, options.messages)
    const bare = mosquitto && (await rateOf(mosquitto, topic, options.messages))
    return {
      bench: 'mqtt',
      nodes: options.nodes,
      delay: delays[0],
      throughput,
      throughputAlone: alone,
      connections: costs[0],
      refusedOrDropped: await network.losses(),
      baseline: mosquitto && {
        what: 'mosquitto',
        delay: delays[1],
        throughput: bare,
        connections: costs[1],
      },
      ...(bare && {
        throughputRatio: round(throughput.messagesPerS / bare.messagesPerS),
        throughputRatioAlone: round(alone.messagesPerS / bare.messagesPerS),
      }),
    }
  }
}

const payloadOf = (number: number) => `${number} ${performance.now()} `.padEnd(messageBytes, '.')

interface Pair {
  readonly from: MqttServer
  readonly to: MqttServer
  readonly topic: string
}

/** From one client to another, at a steady rate. */
async function delaysOf({ from, to, topic }: Pair, { ratePerS, seconds, warmUpS }: MqttBenchOptions) {
  const subscriber = await RawClient.connect({ ...to, clientId: 'subscriber' })
  const publisher = await RawClient.connect({ ...from, clientId: 'publisher' })
  await subscriber.subscribe(topic)
  const delays: number[] = []
  let [next, outOfOrder, warm] = [0, 0, false]
  let onLast = () => {}
  subscriber.onMessage = (payload) => {
    const [number = 0, sentMs = 0] = payload.toString().split(' ').map(Number)
    if (number < 0) warm = true
    if (number < 0) return
    if (number !== next) outOfOrder++
    next = number + 1
    delays.push(performance.now() - sentMs)
    if (delays.length === total) onLast()
  }
  const total = ratePerS * seconds
  showProgress(() => `${delays.length} of ${total} messages`)
  while (!warm) {
    publisher.publish(publishPacket(topic, payloadOf(-1)))
    await pause(50)
  }
  const last = new Promise<void>((resolve) => (onLast = resolve))
  const steadily = async (count: number, payload: (sent: number) => string) => {
    const startMs = performance.now()
    for (let sent = 0; sent < count;) {
      const due = Math.min(count, Math.floor(((performance.now() - startMs) / 1000) * ratePerS))
      for (; sent < due; sent++) publisher.publish(publishPacket(topic, payload(sent)))
      await pause(1)
    }
  }
  await steadily(ratePerS * warmUpS, () => payloadOf(-1))
  await steadily(total, payloadOf)
  await Promise.race([last, pause(lateS * 1000, undefined, { ref: false })])
  publisher.end()
  subscriber.end()
  return {
    messages: total,
    lost: total - delays.length,
    outOfOrder,
    p50Ms: round(percentile(delays, 0.5)),
    p99Ms: round(percentile(delays, 0.99)),
  }
}

/** Through one server, from one client to another, as fast as it goes. */
async function rateOf(server: MqttServer, topic: string, messages: number) {
  const subscriber = await RawClient.connect({ ...server, clientId: 'subscriber' })
  const publisher = await RawClient.connect({ ...server, clientId: 'publisher' })
  await subscriber.subscribe(topic)
  let [received, sent, outOfOrder] = [0, 0, 0]
  const { promise: done, resolve } = Promise.withResolvers<void>()
  showProgress(() => `${received} of ${messages} messages`)
  const packets = (count: number) =>
    Buffer.concat(Array.from({ length: count }, () => publishPacket(topic, payloadOf(sent++))))
  subscriber.onMessage = (payload) => {
    if (Number.parseInt(payload.subarray(0, 12).toString(), 10) !== received) outOfOrder++
    received++
    if (received === messages) return resolve()
    if (sent - received <= window / 2 && sent < messages)
      publisher.publish(packets(Math.min(window / 2, messages - sent)))
  }
  const before = await server.usage()
  const startMs = performance.now()
  publisher.publish(packets(Math.min(window, messages)))
  await done
  const seconds = (performance.now() - startMs) / 1000
  const after = await server.usage()
  publisher.end()
  subscriber.end()
  return {
    messages,
    outOfOrder,
    messagesPerS: round(messages / seconds),
    cpuUsPerMessage: round((1_000 * (after.cpuMs - before.cpuMs)) / messages),
  }
}

/** Clients that do nothing, and others that publish a message a second each, which one subscriber gets. */
async function costsOf(server: MqttServer, topic: string, { idle, busy, seconds }: MqttBenchOptions) {
  const clients: RawClient[] = []
  const connect = async (count: number, name: string) => {
    for (let i = 0; i < count; i += 100)
      clients.push(
        ...(await Promise.all(
          Array.from({ length: Math.min(100, count - i) }, (_, j) =>
            RawClient.connect({ ...server, clientId: `${name} ${i + j}` }),
          ),
        )),
      )
  }
  showProgress(() => `${clients.length} of ${idle + busy} connected`)
  const empty = await server.usage()
  await connect(idle, 'idle')
  const idling = await server.usage()
  await pause(seconds * 1000)
  const idled = await server.usage()
  const subscriber = await RawClient.connect({ ...server, clientId: 'subscriber' })
  await subscriber.subscribe(topic)
  let received = 0
  subscriber.onMessage = () => received++
  await connect(busy, 'busy')
  const publishers = clients.slice(idle)
  const before = await server.usage()
  const total = busy * seconds
  const startMs = performance.now()
  for (let sent = 0; sent < total;) {
    const due = Math.min(total, Math.floor(((performance.now() - startMs) / 1000) * busy))
    for (; sent < due; sent++) publishers[sent % busy]?.publish(publishPacket(topic, payloadOf(sent)))
    await pause(stepMs)
  }
  for (let waited = 0; received < total && waited < 5_000; waited += stepMs) await pause(stepMs)
  const after = await server.usage()
  for (const client of [...clients, subscriber]) client.end()
  return {
    idle,
    busy,
    bytesPerIdleConnection: Math.round((idling.rssBytes - empty.rssBytes) / idle),
    idleCpuMsPerS: round((idled.cpuMs - idling.cpuMs) / seconds),
    busyCpuMsPerS: round((after.cpuMs - before.cpuMs) / seconds),
    lost: total - received,
  }
}
