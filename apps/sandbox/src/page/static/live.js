/**
 * Keeps the page up to date: after a change, it loads the page again and morphs the parts marked `data-live`.
 *
 * @module
 */
import { Idiomorph } from './idiomorph.js'

/** Changes come in bursts; the first one shows at once. */
const PAUSE_MS = 120
const connection = document.querySelector('#connection')
/** The last HTML of each part: an unchanged part is not even compared. */
const known = new Map()

let waiting
let missed = false
let loading
let again = false

listen((state) => {
  if (state === 'lost') {
    connection.textContent = 'Not connected: is the sandbox running?'
    connection.className = 'bad'
    return
  }
  if (state === 'open') {
    connection.textContent = 'Live'
    connection.className = 'ok'
  }
  refreshSoon()
})

document.querySelector('nav [aria-current="page"]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
for (const part of liveParts(document)) known.set(part.id, part.innerHTML)

/** Tells about changes, through the stream that all tabs share. */
function listen(onChange) {
  new BroadcastChannel('changes').addEventListener('message', ({ data }) => onChange(data))
  const { port } = new SharedWorker('/static/stream-worker.js')
  port.addEventListener('message', ({ data }) => onChange(data))
  port.start()
}

/** At once; then not before a pause is over. */
function refreshSoon() {
  if (waiting !== undefined) {
    missed = true
    return
  }
  waiting = setTimeout(() => {
    waiting = undefined
    if (missed) refreshSoon()
  }, PAUSE_MS)
  missed = false
  refresh()
}

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
    if (href === location.href) morphParts(fresh)
  }
}

function morphParts(fresh) {
  for (const part of liveParts(fresh)) {
    const html = part.innerHTML
    const old = document.getElementById(part.id)
    if (!old || known.get(part.id) === html) continue
    known.set(part.id, html)
    // The library would keep the whole content of the focused element, also of a link.
    const ignoreActiveValue = document.activeElement?.matches('input, textarea, select')
    Idiomorph.morph(old, html, { morphStyle: 'innerHTML', ignoreActiveValue, callbacks })
  }
}

/** A result stays, an open part stays open, and nobody loses what they typed. */
const callbacks = {
  beforeNodeMorphed: (old) => !(old instanceof HTMLElement && old.dataset.keep !== undefined),
  beforeAttributeUpdated: (name, node, change) =>
    !(name === 'open' && change === 'remove' && node instanceof HTMLDetailsElement),
}

function liveParts(root) {
  return root.querySelectorAll('[data-live]')
}
