import fastify from 'fastify'
import { expect, it } from 'vitest'
import { schemaController } from './route-schemas.ts'

it('checks requests and writes answers by the schemas of a route', async () => {
  const server = fastify({ schemaController })
  const count = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] }
  const schema = { querystring: count, response: { 200: count } }
  server.get('/count', { schema }, ({ query }) => ({ ...(query as object), further: 1 }))
  expect((await server.inject('/count?count=3')).json()).toEqual({ count: 3 })
  expect((await server.inject('/count?count=x')).statusCode).toBe(400)
})
