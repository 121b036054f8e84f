import type { NetworkNode } from '@runnel/network'

/**
 * The node of another client, for one more client with a user of its own: what it publishes is signed by that user and goes over the links that
 * there are. It is told only of messages that came over the network. The other client joins stream parts, and stops the node.
 */
export function sharedNode(node: NetworkNode): NetworkNode {
  const nothing = (): void => {}
  const own: Partial<NetworkNode> = {
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    join: nothing,
    leave: nothing,
    on(event, listener) {
      if (event !== 'message') return node.on(event, listener)
      const hear = listener as NonNullable<Parameters<typeof node.on<'message'>>[1]>
      return node.on('message', (delivery) => delivery.from !== undefined && hear(delivery))
    },
  }
  return new Proxy(node, {
    get(target, name) {
      const value: unknown = Reflect.get(name in own ? own : target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
