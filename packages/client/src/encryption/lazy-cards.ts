import type { CardDirectory, CardDirectoryModules } from './card-directory.ts'
import type { Cards } from './ports.ts'

/** The cards on storage nodes. What it takes to find them is loaded when it is used. */
export function lazyCards(modules: CardDirectoryModules): Cards {
  let loading: Promise<CardDirectory> | undefined
  const load = async (): Promise<CardDirectory> => {
    const [{ CardDirectory }, { cardLimits }] = await Promise.all([
      import('./card-directory.ts'),
      import('./card-limits.ts'),
    ])
    return new CardDirectory(cardLimits, modules)
  }
  const loaded = () => (loading ??= load())
  return {
    put: async (...args) => (await loaded()).put(...args),
    cardsOf: async (...args) => (await loaded()).cardsOf(...args),
  }
}
