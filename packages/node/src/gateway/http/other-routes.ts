import type { FastifyInstance } from 'fastify'
import { nodeError } from '../../errors.ts'

/**
 * Answers what no route does: 405 with the methods of an address that has others (RFC 9110, 15.5.6), else 404. To be called before the
 * routes are added.
 */
export function refuseOtherRoutes(server: FastifyInstance): void {
  const routes = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>()
  server.addHook('onRoute', ({ url, method }) => {
    const route = routes.get(url) ?? { pattern: patternOf(url), methods: new Set() }
    routes.set(url, route)
    for (const name of [method].flat()) route.methods.add(name)
  })
  server.setNotFoundHandler(({ url, method }, reply) => {
    const [path = ''] = url.split('?')
    for (const { pattern, methods } of routes.values()) {
      if (!pattern.test(path)) continue
      const allowed = [...methods].toSorted().join(', ')
      reply.header('allow', allowed)
      throw nodeError('GATEWAY_WRONG_METHOD', `${method} is none of ${allowed}`)
    }
    throw nodeError('GATEWAY_NO_ROUTE')
  })
}

function patternOf(url: string): RegExp {
  return new RegExp(`^${url.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`)
}
