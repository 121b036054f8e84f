import { expect, it } from 'vitest'
import { Slots } from './slots.ts'

const never = new AbortController().signal

it('lets so many run, the others in turn', async () => {
  const slots = new Slots(2)
  const order: string[] = []
  const leave = await Promise.all([slots.take(never), slots.take(never)])
  const [third, fourth] = ['third', 'fourth'].map(async (name) => {
    const release = await slots.take(never)
    order.push(name)
    return release
  })
  expect(slots.waiting).toBe(2)
  leave[0]?.()
  leave[0]?.()
  const release = await third
  expect(order).toEqual(['third'])
  release?.()
  leave[1]?.()
  ;(await fourth)?.()
  expect(order).toEqual(['third', 'fourth'])
  expect(slots.isIdle).toBe(true)
})

it('can be left while waiting, which takes nobody else’s turn', async () => {
  const slots = new Slots(1)
  const leave = await slots.take(never)
  const controller = new AbortController()
  const [given, kept] = [slots.take(controller.signal), slots.take(never)]
  controller.abort()
  expect(await given).toBeUndefined()
  expect(await slots.take(controller.signal)).toBeUndefined()
  expect(slots.waiting).toBe(1)
  leave?.()
  ;(await kept)?.()
  expect(slots.isIdle).toBe(true)
})
