/** Of a report page. On narrow screens plots scroll, as their text would be too small to read. */
export const style = `
:root { color-scheme: light dark; --line: #8884; --a: #1769aa; --b: #c2410c; --bad: #b91c1c; --good: #15803d }
@media (prefers-color-scheme: dark) { :root { --a: #7ab8f5; --b: #fb923c; --bad: #f87171; --good: #4ade80 } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 760px; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
.plot { overflow-x: auto; margin: 1rem 0 } svg { width: 100%; min-width: 520px; height: auto; display: block }
svg polyline, svg line { fill: none; stroke-width: 2 } .line0 { stroke: var(--a) } .line1 { stroke: var(--b) }
svg .grid { stroke: var(--line); stroke-width: 1 } svg text { fill: currentColor } .axis { font-size: 12px; opacity: .75 }
.title { font-size: 13px; font-weight: 600 } table { border-collapse: collapse; width: 100% }
td, th { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top }
th { overflow-wrap: normal } .bad { color: var(--bad) } .good { color: var(--good) }
pre { white-space: pre-wrap } .wide { white-space: pre; overflow: auto }
@media (max-width: 600px) { .axis { font-size: 15px } .title { font-size: 16px } }`
