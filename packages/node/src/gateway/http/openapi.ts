import { z } from 'zod'
import { queries } from './queries.ts'

type Json = Readonly<Record<string, unknown>>

const streamId = {
  ...{ name: 'streamId', in: 'path', required: true, schema: { type: 'string' } },
  description: '0xowner/path, or /path of the user that the key serves; percent-encoded.',
}
const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` })
const content = (type: string, schema: Json) => ({ content: { [type]: { schema } } })
const ok = (description: string, type: string, schema: Json) => ({
  200: { description, ...content(type, schema) },
})
const message = ref('schemas', 'Message')
const messageOrLeftOut = { oneOf: [message, ref('schemas', 'LeftOut'), ref('schemas', 'Gaps')] }
const lines =
  'One message a line. At the end a line for each reason why messages were left out, and one for gaps.'
const headerOf = (name: string, description: string) => ({
  ...{ name, in: 'header', description, schema: { type: 'string' } },
})

/** What the answer is where it is refused; every code is in docs/errors.md. */
const refusals = Object.fromEntries(
  ['400', '401', '403', '404', '405', '409', '413', '415', '422', '429', '503', '504'].map((status) => [
    status,
    ref('responses', 'Problem'),
  ]),
)

/** The parameters that a schema of a query describes. */
function parametersOf(schema: z.ZodObject): readonly Json[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' })
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = property as Json
    return { name, in: 'query', required: required.includes(name), description, schema: rest }
  })
}

function operation(
  operationId: string,
  summary: string,
  query: z.ZodObject,
  responses: Json,
  more: Json = {},
  headers: readonly Json[] = [],
): Json {
  const parameters = [streamId, ...headers, ...parametersOf(query)]
  return { operationId, summary, parameters, responses: { ...responses, ...refusals }, ...more }
}

/** An object that needs what it has. */
function objectOf(properties: Json): Json {
  return { type: 'object', required: Object.keys(properties), properties }
}

const string = { type: 'string' }
const integer = { type: 'integer' }
const chain = { streamId: string, partition: integer, publisherId: string, messageChainId: string }
const neighbours = { type: 'integer', description: 'Neighbours it was sent to.' }

const schemas = {
  Place: objectOf({
    ...chain,
    timestamp: { type: 'integer', description: 'Unix milliseconds.' },
    sequenceNumber: integer,
  }),
  Published: {
    allOf: [
      ref('schemas', 'Place'),
      objectOf({
        id: { type: 'string', description: 'The same everywhere.' },
        neighbours,
        stored: {
          type: 'boolean',
          description: 'A storage node has it durably; false where that was not asked.',
        },
      }),
    ],
  },
  Relayed: objectOf({ ...chain, messages: { type: 'array', items: { type: 'object' } }, neighbours }),
  Bulk: {
    type: 'object',
    required: ['published', 'alone'],
    properties: {
      published: { type: 'integer' },
      alone: { type: 'integer', description: 'Of them, those that had no neighbour to go to.' },
      last: ref('schemas', 'Published'),
      line: { type: 'integer', description: 'The first line that was wrong, from 1.' },
      problem: ref('schemas', 'Problem'),
    },
  },
  Message: {
    allOf: [
      ref('schemas', 'Place'),
      {
        type: 'object',
        required: ['contentType', 'content'],
        properties: {
          previous: { type: ['object', 'null'] },
          contentType: { enum: ['json', 'text', 'binary', 'unknown'] },
          headers: { type: 'object', additionalProperties: { type: 'string' } },
          key: { type: 'string' },
          isRemoval: { type: 'boolean' },
          content: { description: 'Bytes are {"base64": …}.' },
        },
      },
    ],
  },
  LeftOut: objectOf({
    undecodable: {
      ...objectOf({
        count: { type: 'integer', description: 'Messages left out for this reason.' },
        last: ref('schemas', 'Place'),
        problem: ref('schemas', 'Problem'),
      }),
      description: 'Messages that cannot be opened or decoded.',
    },
  }),
  Gaps: objectOf({
    gaps: {
      ...objectOf({
        count: { type: 'integer', description: 'Gaps: runs of messages that are missing.' },
        last: objectOf({
          ...{ streamPartId: string, publisherId: string, messageChainId: string },
          ...{ after: { type: 'object' }, upTo: { type: 'object' } },
        }),
      }),
      description: 'Messages of history that others name and no storage node has.',
    },
  }),
  Problem: objectOf({
    ...{ type: string, title: string, status: integer, detail: string, code: string },
    remedy: { type: 'string', description: 'What to do.' },
  }),
}

const bodies = {
  requestBody: {
    required: true,
    content: {
      'application/json': { schema: {} },
      'text/plain': { schema: { type: 'string' } },
      'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
      'application/x-ndjson': { schema: { type: 'string', description: 'One message a line.' } },
    },
  },
}
const published = {
  200: {
    description: 'Published: the place of the message, or of many how many.',
    ...content('application/json', { oneOf: [ref('schemas', 'Published'), ref('schemas', 'Bulk')] }),
  },
}

/** The description of the gateway's routes (OpenAPI 3.1). */
export const openApi = {
  openapi: '3.1.0',
  info: {
    title: 'Runnel HTTP gateway',
    version: '1',
    description:
      'Publishes to streams of a Runnel network, and reads them, in the name of the user that a key serves.',
  },
  security: [{ key: [] }],
  paths: {
    '/v1/streams/{streamId}/messages': {
      post: operation('publish', 'Publish a message, or many', queries.publish, published, bodies, [
        headerOf('Idempotency-Key', 'Repeated within ten minutes, a request is answered as the first was.'),
      ]),
      get: operation('history', 'Stored messages', queries.history, ok(lines, 'application/x-ndjson', messageOrLeftOut)), // prettier-ignore
    },
    '/v1/streams/{streamId}/batches': {
      post: operation(
        ...(['relay', 'Pass on a batch that the client signed itself', z.strictObject({})] as const),
        ok('Passed on: the places of its messages.', 'application/json', ref('schemas', 'Relayed')),
        {
          requestBody: {
            required: true,
            content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
          },
        },
        [headerOf('Runnel-Delegation', 'What it is signed under, hexadecimal.')],
      ),
    },
    '/v1/streams/{streamId}/events': {
      get: operation(
        ...(['events', 'Messages from now on, as server-sent events', queries.events] as const),
        ok('An event for each message; ids are cursors.', 'text/event-stream', { type: 'string' }),
        {},
        [headerOf('Last-Event-ID', 'Goes on after the event with this id.')],
      ),
    },
    '/v1/streams/{streamId}/last': {
      get: operation('last', 'The newest message, or that of a key', queries.last, ok('The message.', 'application/json', message)), // prettier-ignore
      delete: operation('remove', 'Take the value of a key away', queries.remove, ok('Published.', 'application/json', ref('schemas', 'Published'))), // prettier-ignore
    },
    '/v1/streams/{streamId}/table': {
      get: operation('table', 'The newest message of each key', queries.table, ok(lines, 'application/x-ndjson', messageOrLeftOut)), // prettier-ignore
    },
  },
  components: {
    securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
    responses: {
      Problem: {
        description: 'Refused (RFC 9457): `code` says why, `remedy` what to do.',
        ...content('application/problem+json', ref('schemas', 'Problem')),
      },
    },
    schemas,
  },
}
