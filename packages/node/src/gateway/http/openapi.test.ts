import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, it } from 'vitest'
import { openApi } from './openapi.ts'

it('the description of the gateway is valid OpenAPI 3.1', async () => {
  const validator = new Validator()
  expect(
    await validator.validate(structuredClone(openApi) as unknown as Record<string, unknown>),
  ).toMatchObject({ valid: true })
  expect(validator.version).toBe('3.1')
  expect(Object.keys(openApi.paths)).toHaveLength(5)
})
