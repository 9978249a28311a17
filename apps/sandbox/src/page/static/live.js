/**
 * Keeps the page up to date: after a change, it loads the page again and morphs the parts marked `data-live`.
 *
 * A browser opens at most six connections to a site. So one tab holds a lock, listens to the stream, and tells the
 * others; when it closes, another tab takes over.
 */
import { Idiomorph } from './idiomorph.js'

const word = document.querySelector('#connection')
const banner = document.querySelector('#banner')
const liveParts = (root) => root.querySelectorAll('[data-live]')
/** The last HTML of each part: an unchanged part is not even compared. */
const known = new Map(Array.from(liveParts(document), (part) => [part.id, part.innerHTML]))

const channel = new BroadcastChannel('changes')
const states = {
  open: ['Live', '', 'ok'],
  lost: ['Not connected', 'Not connected: is the sandbox running?', 'bad'],
}

let loading
let again = false
/** The state of the stream, in the tab that listens to it. */
let state

/** Listens for changes. */
export function connect() {
  channel.addEventListener('message', ({ data }) => {
    if (data !== 'ask') hear(data)
    else if (state) channel.postMessage(state)
  })
  channel.postMessage('ask')
  navigator.locks.request('stream', () => new Promise(listen))
  // The browser may bring an old page back.
  addEventListener('pageshow', ({ persisted }) => persisted && refresh())
}

function listen() {
  const source = new EventSource('/events')
  for (const [event, now] of Object.entries({ message: 'changed', open: 'open', error: 'lost' })) {
    source.addEventListener(event, () => {
      if (now !== 'changed') state = now
      channel.postMessage(now)
      hear(now)
    })
  }
}

function hear(now) {
  if (now !== 'lost') refresh()
  if (now === 'changed') return
  const [short, long, look] = states[now]
  word.textContent = short
  word.className = look
  banner.textContent = long
  document.body.dataset.connection = now
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
    const response = await fetch(href).catch(() => undefined)
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

/** A form stays as it is, an open part stays open, and nobody loses what they typed. */
const callbacks = {
  beforeNodeMorphed: (old) => !(old instanceof HTMLElement && old.dataset.keep !== undefined),
  beforeAttributeUpdated: (name, _, change) => !(name === 'open' && change === 'remove'),
}
