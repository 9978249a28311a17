/**
 * Keeps the page up to date: after a change, it loads the page again and morphs the parts marked `data-live`.
 *
 * @module
 */
import { Idiomorph } from './idiomorph.js'

const connection = document.querySelector('#connection')
const liveParts = (root) => root.querySelectorAll('[data-live]')
/** The last HTML of each part: an unchanged part is not even compared. */
const known = new Map(Array.from(liveParts(document), (part) => [part.id, part.innerHTML]))

let loading
let again = false

/** The stream that all tabs share tells about changes. */
function listen({ data: state }) {
  if (state !== 'changed') {
    const lost = state === 'lost'
    connection.textContent = lost ? 'Not connected: is the sandbox running?' : 'Live'
    connection.className = lost ? 'bad' : 'ok'
    if (lost) return
  }
  refresh()
}
new BroadcastChannel('changes').addEventListener('message', listen)
const { port } = new SharedWorker('/static/stream-worker.js')
port.addEventListener('message', listen)
port.start()
// The browser may bring an old page back.
addEventListener('pageshow', ({ persisted }) => persisted && refresh())
document.querySelector('nav [aria-current="page"]')?.scrollIntoView({ block: 'nearest', inline: 'center' })

/** Draws the page of the current address; a change in the meantime draws it once more. */
export function refresh() {
  again = true
  loading ??= load().finally(() => {
    loading = undefined
  })
  return loading
}

async function load() {
  while (again) {
    again = false
    const { href } = location
    // Without a response, the sandbox has stopped; the connection shows it.
    const response = await fetch(href, { headers: { 'x-refresh': '1' } }).catch(() => undefined)
    if (!response?.ok) continue
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html')
    if (href === location.href) for (const part of liveParts(fresh)) morph(part)
  }
}

function morph({ id, innerHTML }) {
  const old = document.getElementById(id)
  if (!old || known.get(id) === innerHTML) return
  known.set(id, innerHTML)
  // The library would keep the whole content of the focused element, also of a link.
  const ignoreActiveValue = document.activeElement?.matches('input, textarea, select')
  Idiomorph.morph(old, innerHTML, { morphStyle: 'innerHTML', ignoreActiveValue, callbacks })
}

/** A result stays, an open part stays open, and nobody loses what they typed. */
const callbacks = {
  beforeNodeMorphed: (old) => !(old instanceof HTMLElement && old.dataset.keep !== undefined),
  beforeAttributeUpdated: (name, _, change) => !(name === 'open' && change === 'remove'),
}
