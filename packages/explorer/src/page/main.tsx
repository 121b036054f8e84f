import { render } from 'preact'
import { App } from './app.tsx'

const root = document.getElementById('app')
if (root !== null) render(<App home={location.origin} />, root)
