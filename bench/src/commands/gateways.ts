import { benchCommand } from './bench-command.ts'
import { count } from './counts.ts'

/** Those who have no node of their own. */
export const gatewayCommands = [
  benchCommand(
    'gateway',
    {
      about:
        'delay and rate through HTTP and WebSocket gateways, beside the SDK alone, and what idle readers cost',
      options: {
        nodes: count(8),
        rounds: count(9, 'of each path, by turns'),
        paced: count(150, 'messages a round whose delay is measured'),
        messages: count(10_000, 'messages a round at once'),
        idle: count(10_000, 'readers that get nothing', { min: 0 }),
      },
      limitS: 180,
    },
    async ({ nodes, rounds, paced, messages, idle, limitS }) =>
      (await import('../gateway/gateway-bench.ts')).gatewayBench({
        nodes,
        rounds,
        paced,
        messages,
        idle,
        idleS: 20,
        limitS,
      }),
  ),
  benchCommand(
    'mqtt',
    {
      about:
        'MQTT gateways: delays through an overlay, messages a second through one, and what connections cost, beside mosquitto',
      options: {
        nodes: count(8, 'in the overlay, two of them gateways'),
        rate: count(1_000, 'messages a second, of the delays'),
        seconds: count(20, 'how long each state is watched'),
        warmUp: count(10, 'seconds before delays are taken', { min: 0 }),
        messages: count(200_000, 'of 100 bytes, as fast as they go'),
        idle: count(10_000, 'connections that do nothing', { min: 0 }),
        busy: count(1_000, 'connections with a message a second each', { min: 0 }),
        mosquitto: { type: 'boolean' as const, default: true, describe: 'measure mosquitto in the same run' },
      },
      limitS: 400,
    },
    async ({ nodes, rate, seconds, warmUp, messages, idle, busy, mosquitto, limitS }) => {
      const size = { nodes, ratePerS: rate, seconds, warmUpS: warmUp, messages, idle, busy, mosquitto }
      return (await import('../mqtt/mqtt-bench.ts')).mqttBench({ ...size, limitS })
    },
  ),
]
