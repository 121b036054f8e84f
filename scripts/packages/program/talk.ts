import { createClient, isRunnelError, type ClientConfig, type NetworkSource } from '@runnel/client'

/** One client subscribes and another publishes, over real links; returns the code and the content that came. */
export async function talk(network: NetworkSource, transports: ClientConfig['transports']): Promise<unknown> {
  if (network.kind !== 'static' || !('document' in network)) throw new Error('a static network is needed')
  const [stream] = network.document.streams
  if (stream === undefined) throw new Error('the network has no stream')
  const reader = await createClient({ network, transports })
  const writer = await createClient({ network, transports })
  const refusal: unknown = await writer.publish('not a stream', 1).catch((error: unknown) => error)
  if (!isRunnelError(refusal)) throw new Error('errors are not known as those of Runnel')
  const subscription = await reader.subscribe(stream.id)
  await writer.publish(stream.id, { hello: 'world' })
  for await (const { content } of subscription) {
    await Promise.all([reader.close(), writer.close()])
    return content
  }
  throw new Error('the subscription ended')
}
