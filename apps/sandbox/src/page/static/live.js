/**
 * Keeps the page up to date: after a change, it loads the page again and replaces the parts marked `data-live`.
 *
 * @module
 */

const REFRESH_MS = 150
const connection = document.querySelector('#connection')
/** The last HTML of each part: an unchanged part keeps its focus and its selection. */
const known = new Map()

let waiting
let loading
let again = false

const source = new EventSource('/events')
source.addEventListener('message', refreshSoon)
// Also the first time: the page may be out of date already.
source.addEventListener('open', () => {
  connection.textContent = 'Live'
  connection.className = 'ok'
  refreshSoon()
})
source.addEventListener('error', () => {
  connection.textContent = 'Not connected: is the sandbox running?'
  connection.className = 'bad'
})
// An open connection would keep the page out of the back-forward cache.
addEventListener('pagehide', () => source.close())

document.querySelector('nav [aria-current="page"]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
for (const part of liveParts(document)) known.set(part.id, part.innerHTML)

/** Waits a moment, because changes come in bursts. */
function refreshSoon() {
  waiting ??= setTimeout(refresh, REFRESH_MS)
}

/** Draws the page of the current address; a change in the meantime draws it once more. */
export function refresh() {
  clearTimeout(waiting)
  waiting = undefined
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
    const response = await fetch(href, { headers: { accept: 'text/html' } }).catch(() => undefined)
    if (!response?.ok) continue
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html')
    if (href === location.href) replaceParts(fresh)
  }
}

function replaceParts(fresh) {
  for (const part of liveParts(fresh)) {
    const html = part.innerHTML
    const old = document.getElementById(part.id)
    if (!old || known.get(part.id) === html) continue
    known.set(part.id, html)
    keepState(old, () => old.replaceChildren(...part.childNodes))
  }
}

function liveParts(root) {
  return root.querySelectorAll('[data-live]')
}

/** Keeps open details, results, the scroll position and the focus. */
function keepState(part, replace) {
  const focused = part.contains(document.activeElement) ? document.activeElement : undefined
  const focusKey = focused && keyOf(focused)
  const open = [...part.querySelectorAll('details[open][id]')].map(({ id }) => id)
  const kept = [...part.querySelectorAll('[data-keep]')]
  const { scrollTop, scrollHeight } = part
  replace()
  for (const id of open) document.getElementById(id)?.setAttribute('open', '')
  for (const element of kept) document.getElementById(element.id)?.replaceWith(element)
  // A list grows at its beginning.
  const grown = scrollTop > 0 && part.classList.contains('list') ? part.scrollHeight - scrollHeight : 0
  part.scrollTop = scrollTop + grown
  if (!focusKey) return
  const same = [...part.querySelectorAll('a, button')].find((one) => keyOf(one) === focusKey)
  same?.focus({ preventScroll: true })
}

function keyOf(element) {
  return `${element.getAttribute('href') ?? ''} ${element.dataset.action ?? ''} ${element.dataset.body ?? ''}`
}
