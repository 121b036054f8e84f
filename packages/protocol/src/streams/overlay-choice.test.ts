import { describe, expect, it } from 'vitest'
import { overlayChoiceIn } from './overlay-choice.ts'

describe('the overlay in the metadata of a stream', () => {
  it.each([
    ['{"overlay":"topology-aware","unit":"K"}', { strategy: 'topology-aware' }],
    ['{"overlay":"tree"}', { strategy: 'tree' }],
    ['{"overlay":{"strategy":"random","degree":8}}', { strategy: 'random', degree: 8 }],
    ['{"overlay":{"degree":64}}', { degree: 64 }],
    ['{"overlay":{}}', {}],
    ['{"overlay":"star"}', undefined],
    ['{"overlay":{"strategy":"star"}}', undefined],
    ['{"overlay":{"degree":1}}', undefined],
    ['{"overlay":{"degree":65}}', undefined],
    ['{"overlay":{"degree":"4"}}', undefined],
    ['{"overlay":{"degree":4.5}}', undefined],
    ['{"overlay":{"random":1}}', undefined],
    ['{"overlay":["tree"]}', undefined],
    ['{"overlay":null}', undefined],
    ['["overlay"]', undefined],
    ['"overlay"', undefined],
    ['null', undefined],
    ['{"overlay":', undefined],
    ['', undefined],
  ])('%s', (metadata, choice) => {
    expect(overlayChoiceIn(metadata)).toEqual(choice)
  })
})
