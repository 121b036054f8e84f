import { element } from '../shared/page.ts'

/** An empty tile in the page: a sentence, a name. */
export function newTile(): HTMLElement {
  const tile = document.createElement('div')
  tile.className = 'tile'
  tile.append(document.createElement('p'), document.createElement('b'))
  element('tiles', HTMLDivElement).append(tile)
  return tile
}
