import { join, onSubmit, run, say, show, streamCalled } from '../shared/page.ts'

run(async () => {
  const client = await join()
  const lobby = await streamCalled(client, 'lobby')
  const subscription = await client.subscribe(lobby, {}, ({ publisherId, content }) =>
    show(publisherId, typeof content === 'string' ? content : JSON.stringify(content)),
  )
  onSubmit('publish', (fields) => client.publish(lobby, String(fields.get('text'))))
  await subscription.waitForNeighbours()
  say(`This page is the node ${client.nodeId}.`)
})
